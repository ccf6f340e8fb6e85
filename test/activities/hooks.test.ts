import { expect, test } from 'vitest';
import { commitCompaction } from '../../src/activities/compaction/commit-compaction.ts';
import { askHooks } from '../../src/activities/compaction/ask-hooks.ts';
import { compactContext } from '../../src/activities/compaction/compact-context.ts';
import { summarize } from '../../src/activities/compaction/summarize.ts';
import type { Entry } from '../../src/context/log/entry.ts';
import type { BeforeCompaction, CompactionPreparation } from '../../src/context/policy/compaction-hook.ts';
import { PI_POLICY } from '../../src/context/policy/presets/pi.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import type { Database } from '../../src/store/database/database.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { listEvents } from '../../src/store/log/events.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { prose } from '../context/builders.ts';
import {
  SNAPSHOT,
  answerWith,
  finishToolCall,
  register,
  startTurn,
  text,
  toolCall,
} from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { useStoreAndSimulator } from './support/store-and-simulator.ts';

let sql: Database;
let simulator: Simulator;

useStoreAndSimulator((opened) => {
  ({ simulator } = opened);
  ({ sql } = opened.store);
});

const LIMITS = { window: 32_768, maximumOutput: 4_096 };

/** Reads four files more, `log-<number>.txt`. */
async function readLogs(turn: TurnReference, from: number): Promise<void> {
  for (let number = from; number < from + 4; number += 1) {
    const call = toolCall(0, 'read_file', JSON.stringify({ path: `log-${number}.txt` }));
    await storeAnswer(sql, answerWith(turn, number, await register(sql, turn, number), [call]));
    await finishToolCall(sql, turn, number, 0, text(prose(16_000, number)));
  }
}

/** A turn that has read four files; its conversation is to be compacted. */
async function turnWithLogs(): Promise<TurnReference> {
  const summarizer = { ...SNAPSHOT.summarizer, limits: LIMITS };
  const turn = await startTurn(sql, 'Read the logs.', {
    snapshot: { policy: PI_POLICY, modelLimits: LIMITS, summarizer },
  });
  await readLogs(turn, 1);
  return turn;
}

const dependenciesWith = (hooks: readonly BeforeCompaction[]) => ({
  ...activityDependencies(sql, { simulatorUrl: simulator.url }),
  beforeCompaction: hooks,
});

/** The pass before this call, as the workflow makes it: hooks are asked anew when one of them fails. */
async function compact(turn: TurnReference, hooks: readonly BeforeCompaction[], callNumber = 5): Promise<string> {
  const dependencies = dependenciesWith(hooks);
  const input = { turn, callNumber, forced: 'overflow' } as const;
  expect(await compactContext(dependencies, input, execution())).toEqual({ kind: 'hooks_due' });
  const ask = (attempt: number) => askHooks(dependencies, input, execution({ attempt }));
  const asked = await ask(1)
    .catch(() => ask(2))
    .catch(() => ask(3));
  if (asked.kind !== 'planned') return asked.kind;
  const { compactionId, waves } = asked.planned;
  for (const { number } of waves.flat())
    await summarize(dependencies, { turn, compactionId, part: number }, execution());
  return (await commitCompaction(dependencies, { turn, compactionId })).kind;
}

interface Committed {
  readonly details: unknown;
  readonly model: string | null;
  readonly summary: string;
  readonly files: { readonly read: readonly string[] };
  readonly firstKeptSequence: number;
}

async function newestOf({ conversationId }: TurnReference): Promise<Committed> {
  const [row] = await sql<Committed[]>`
    select details, model, summary, files, first_kept_sequence from compactions
    where conversation_id = ${conversationId} and status = 'committed' order by number desc limit 1`;
  if (row === undefined) throw new Error('nothing was committed');
  return row;
}

const entriesOf = ({ conversationId }: TurnReference): Promise<readonly Entry[]> =>
  listEntries(sql, { conversationId });

/** The newest request for a summary, and how many there were. */
async function summaryRequests(): Promise<{ readonly count: number; readonly newest: string }> {
  const response = await fetch(`${simulator.url}/control/requests?last=1000`);
  const { requests } = (await response.json()) as { requests: { purpose: string; body?: unknown }[] };
  const bodies = requests.filter(({ purpose }) => purpose === 'summary').map(({ body }) => JSON.stringify(body));
  return { count: bodies.length, newest: bodies.at(-1) ?? '' };
}

test('P28 a hook is told first kept entry, messages, tokens and files; one that stays silent leaves the default', async () => {
  const told: CompactionPreparation[] = [];
  const turn = await turnWithLogs();
  expect(await compact(turn, [(preparation) => void told.push(preparation)])).toBe('committed');
  expect((await newestOf(turn)).model).toBe('sim/sim-32k');
  const [preparation] = told;
  const kept = (await entriesOf(turn)).find(({ id }) => id === preparation?.firstKeptEntryId);
  expect(kept).toBeDefined();
  expect(preparation?.entriesToSummarize.at(-1)?.sequence).toBe((kept?.sequence ?? 0) - 1);
  expect(preparation?.tokensBefore).toBeGreaterThan(0);
  expect(preparation?.files.read).toContain('log-1.txt');
  expect(preparation?.previousSummary).toBeNull();
});

test('P28 a hook that brings a summary saves the call of a model, and chooses what stays: a call with its results', async () => {
  const { count } = await summaryRequests();
  const turn = await turnWithLogs();
  const chooses: BeforeCompaction = ({ entriesToSummarize }) => {
    const result = entriesToSummarize.filter(({ kind }) => kind === 'tool_result')[1];
    return { summary: 'READ ONE', ...(result !== undefined && { firstKeptEntryId: result.id }) };
  };
  expect(await compact(turn, [chooses])).toBe('committed');
  const [, second] = (await entriesOf(turn)).filter(({ kind }) => kind === 'assistant');
  expect(await newestOf(turn)).toMatchObject({ model: null, firstKeptSequence: second?.sequence });
  expect((await newestOf(turn)).summary).toContain('READ ONE');
  expect((await summaryRequests()).count).toBe(count);
});

test('P25 P28 a hook that cancels changes nothing', async () => {
  const turn = await turnWithLogs();
  const before = await entriesOf(turn);
  expect(await compact(turn, [() => ({ cancel: true })])).toBe('fits');
  expect(await sql`select from compactions where conversation_id = ${turn.conversationId}`).toHaveLength(0);
  expect(await entriesOf(turn)).toEqual(before);
  const kinds = (await listEvents(sql, turn)).map(({ kind }) => kind);
  expect(kinds).toContain('compaction_cancelled');
  expect(kinds).not.toContain('compaction_started');
});

test('P28 a hook that throws is asked three times and then skipped, and the others are asked in order', async () => {
  const order: number[] = [];
  const turn = await turnWithLogs();
  const hooks: BeforeCompaction[] = [
    () => {
      order.push(1);
      throw new Error('broken');
    },
    () => {
      order.push(2);
      return { summary: '## Goal\nFROM THE SECOND' };
    },
    () => {
      order.push(3);
      return { cancel: true };
    },
  ];
  expect(await compact(turn, hooks)).toBe('committed');
  expect((await newestOf(turn)).summary).toContain('FROM THE SECOND');
  expect(order).toEqual([1, 1, 1, 2]);
  const skipped = (await listEvents(sql, turn)).filter(({ kind }) => kind === 'compaction_hook_skipped');
  expect(skipped).toMatchObject([{ data: { code: 'Error' } }]);
});

test('P28 a stop ends the wait for a hook that hangs, tells the hook, and leaves no compaction', async () => {
  let told: AbortSignal | undefined;
  const hangs: BeforeCompaction = (_, { signal }) => {
    told = signal;
    // Does not look at its signal.
    return new Promise(() => undefined);
  };
  const turn = await turnWithLogs();
  const stop = new AbortController();
  const input = { turn, callNumber: 5, forced: 'overflow' } as const;
  const asking = askHooks(dependenciesWith([hangs]), input, execution({ signal: stop.signal }));
  const ended = expect(asking).rejects.toThrow('stopped');
  await waitUntil('the hook is asked', () => told !== undefined);
  stop.abort(new Error('stopped'));
  await ended;
  expect(told?.aborted).toBe(true);
  expect(await sql`select from compactions where conversation_id = ${turn.conversationId}`).toHaveLength(0);
});

test('P29 details of a hook and the lists of files are stored with the compaction and carried on to the next', async () => {
  const details = { artifacts: ['a1', 'a2'] };
  const told: CompactionPreparation[] = [];
  const turn = await turnWithLogs();
  await compact(turn, [() => ({ details })]);
  const first = await newestOf(turn);
  expect(first).toMatchObject({ details, files: { read: expect.arrayContaining(['log-1.txt']) } });
  await readLogs(turn, 6);
  expect(await compact(turn, [(preparation) => void told.push(preparation)], 10)).toBe('committed');
  expect(told).toMatchObject([{ previousDetails: details, previousSummary: expect.any(String) }]);
  const next = await newestOf(turn);
  expect(next.details).toEqual(details);
  expect(next.files.read).toEqual(expect.arrayContaining([...first.files.read, 'log-6.txt']));
});

test('O24 hooks add lines before and after the instruction', async () => {
  await compact(await turnWithLogs(), [
    () => ({ contextLines: { prepend: ['BRANCH is main'] } }),
    () => ({ contextLines: { append: ['GOAL is to ship'] } }),
  ]);
  const { newest } = await summaryRequests();
  const instruction = newest.indexOf('The transcript above');
  expect(newest.indexOf('BRANCH is main')).toBeGreaterThan(-1);
  expect(newest.indexOf('BRANCH is main')).toBeLessThan(instruction);
  expect(newest.indexOf('GOAL is to ship')).toBeGreaterThan(instruction);
});
