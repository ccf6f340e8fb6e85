import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changedKeptHistories, describeChanges } from '../../scripts/kept-histories.mjs';
import type { AgentTurnInput } from '../../src/workflows/agent-turn.ts';
import type { TurnProgress } from '../../src/turn/carry-over.ts';
import { keepHistory } from './keep-runs.ts';
import { keptHistories } from './kept-histories.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FIRST = 'test/histories/kept/1.0.0/first.json';
const SECOND = 'test/histories/kept/1.0.0/second.json';
const MANIFEST = 'test/histories/manifest.json';

let folder: string;
let clone: string;

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
    cwd: clone,
    encoding: 'utf8',
  });

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(clone, path)), { recursive: true });
  await writeFile(join(clone, path), text);
}

function commit(subject: string): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', subject);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-kept-'));
  clone = join(folder, 'clone');
  await mkdir(clone);
  git('init', '--quiet', '--initial-branch', 'main');
  await write(FIRST, '{"events":[1]}');
  await write(MANIFEST, '{"1.0.0/first.json":"a"}');
  commit('Keep one');
  await write(SECOND, '{"events":[2]}');
  await write(MANIFEST, '{"1.0.0/first.json":"a","1.0.0/second.json":"b"}');
  commit('Keep another');
});

afterEach(async () => rm(folder, { recursive: true, force: true }));

/** What a run was left by the one before it. A turn that is refused ends in its first run, and leaves no `refusal`. */
const CARRIED: Readonly<Record<Exclude<keyof TurnProgress, 'refusal'>, true>> = {
  branchRequested: true,
  callNumber: true,
  checkLeft: true,
  clock: true,
  commandOnly: true,
  compactions: true,
  consumptions: true,
  conversationRest: true,
  cutAnswers: true,
  decisionsWaiting: true,
  facts: true,
  forced: true,
  lastAnswer: true,
  limits: true,
  loopGuard: true,
  loopLimits: true,
  overflowRecoveries: true,
  steeringWaiting: true,
  stepLimit: true,
  steps: true,
  stopRequested: true,
  toolCalls: true,
  turn: true,
  undecided: true,
};

interface KeptEvents {
  readonly events: readonly {
    readonly workflowExecutionStartedEventAttributes?: { readonly input?: { readonly payloads?: readonly { readonly data: string }[] } };
  }[];
}

/** What the workflow itself is given. */
const INPUT: Readonly<Record<keyof AgentTurnInput, true>> = { cancelled: true, carryOver: true, conversationId: true };

/** What a kept run began with. */
function inputOf(text: string): Partial<AgentTurnInput> {
  const [started] = (JSON.parse(text) as KeptEvents).events;
  const data = started?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
  return data === undefined ? {} : (JSON.parse(Buffer.from(data, 'base64').toString()) as Partial<AgentTurnInput>);
}

const changedPaths = (): readonly string[][] => changedKeptHistories(clone).changes.map(({ paths }) => [...paths]);

describe('kept histories', () => {
  test('of this project were never changed', () => {
    const { changes } = changedKeptHistories(ROOT);
    expect(describeChanges(changes).split('\n').slice(0, -2)).toEqual(['']);
  });

  test('have runs that began with each field that a turn carries over', () => {
    const carried = keptHistories().flatMap(({ text }) => Object.keys(inputOf(text).carryOver?.progress ?? {}));
    expect([...new Set(carried)].toSorted()).toEqual(Object.keys(CARRIED));
  });

  test('have runs that began with each field that the workflow is given', () => {
    const given = keptHistories().flatMap(({ text }) => Object.keys(inputOf(text)));
    expect([...new Set(given)].toSorted()).toEqual(Object.keys(INPUT));
  });

  test('may be added', () => {
    expect(changedKeptHistories(clone)).toEqual({ changes: [], notice: null });
  });

  test('are found changed, although the manifest was renewed with them', async () => {
    await write(FIRST, '{"events":[9]}');
    await write(MANIFEST, '{"1.0.0/first.json":"c","1.0.0/second.json":"b"}');
    expect(changedPaths()).toEqual([[FIRST]]);
    expect(changedKeptHistories(clone).changes[0]?.commit).toBe('(not committed)');
    commit('Renew');
    await write('later.txt', '');
    commit('Something else');
    expect(changedPaths()).toEqual([[FIRST]]);
    expect(describeChanges(changedKeptHistories(clone).changes)).toContain('npm run record-histories');
  });

  test('are found removed and renamed, each once', async () => {
    await rm(join(clone, FIRST));
    commit('Remove');
    await rename(join(clone, SECOND), join(clone, `${SECOND}.old.json`));
    commit('Rename');
    expect(changedPaths()).toEqual([[SECOND], [FIRST]]);
  });

  test('are found changed by a merge', async () => {
    git('switch', '--quiet', '--create', 'other');
    await write('other.txt', '');
    commit('Other');
    git('switch', '--quiet', 'main');
    git('merge', '--quiet', '--no-ff', '--no-commit', 'other');
    await write(FIRST, '{"events":[9]}');
    commit('Merge');
    expect(changedPaths().flat()).toContain(FIRST);
  });

  test('of a shallow clone are compared as far as it reaches, and that is said; where changes land the rest is fetched', async () => {
    await write(FIRST, '{"events":[9]}');
    commit('Change');
    const shallow = join(folder, 'shallow');
    git('clone', '--quiet', '--depth', '1', pathToFileURL(clone).href, shallow);
    const found = changedKeptHistories(shallow);
    expect(found.changes).toEqual([]);
    expect(found.notice).toContain('its 1 newest commits only');
    const deepened = changedKeptHistories(shallow, { deepen: true });
    expect(deepened.notice).toBeNull();
    expect(deepened.changes.flatMap(({ paths }) => paths)).toContain(FIRST);
  });

  test('of a packed tree without git, also inside of another clone, cannot be judged, and that is said', async () => {
    const packed = join(clone, 'node_modules', 'holdfast');
    await mkdir(packed, { recursive: true });
    expect(existsSync(join(packed, '.git'))).toBe(false);
    expect(changedKeptHistories(packed)).toMatchObject({ changes: [], notice: expect.stringContaining('not a git clone') });
    expect(changedKeptHistories(folder)).toMatchObject({ changes: [], notice: expect.stringContaining('not a git clone') });
  });

  test('are kept once: a recording under the same name leaves what is there', () => {
    const path = join(clone, 'test/histories/kept/0.1.0/once-1.json');
    const history = (timerId: string) => ({ events: [{ timerFiredEventAttributes: { timerId } }] });
    keepHistory(path, history('first'));
    const kept = readFileSync(path, 'utf8');
    expect(kept).toContain('first');
    keepHistory(path, history('second'));
    expect(readFileSync(path, 'utf8')).toBe(kept);
  });
});
