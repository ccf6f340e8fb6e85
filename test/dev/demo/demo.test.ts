import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { waitUntil } from '../../support/wait-until.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const STATE = join(ROOT, '.holdfast');

const resultShape = z.looseObject({
  ok: z.boolean(),
  problems: z.array(z.string()),
  outcome: z.string(),
  files: z.number(),
  filesRead: z.number(),
  factsExpected: z.number(),
  factsRight: z.number(),
  modelCalls: z.number(),
  steps: z.number(),
  compactions: z.number(),
  overflows: z.number(),
  kills: z.number(),
  takeoverMs: z.array(z.number()),
  maxTokens: z.number(),
  window: z.number(),
  lostEntries: z.number(),
  doubledEntries: z.number(),
  tokensWithoutCompaction: z.number(),
  historyBytes: z.number(),
  historyEvents: z.number(),
  continuedAsNew: z.number(),
  wallMs: z.number(),
});

interface Played {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs the demo as `npm run demo` does. @param onOutput sees all output so far and may signal the process */
async function play(
  flags: readonly string[],
  onOutput: (output: string, signal: (name: NodeJS.Signals) => void) => void = () => undefined,
): Promise<Played> {
  const child = spawn(process.execPath, [join(ROOT, 'scripts/run.mjs'), 'demo', ...flags], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that a test can press Ctrl-C: the terminal signals the whole group.
    detached: true,
  });
  const press = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  };
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    onOutput(output, press);
  });
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
  return { status, output, errors };
}

function resultOf({ output, errors }: Played): z.infer<typeof resultShape> {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  const context = `${output}\n${errors}`;
  expect(last.startsWith('{'), context).toBe(true);
  return resultShape.parse(JSON.parse(last));
}

async function demoFolders(): Promise<string[]> {
  return existsSync(STATE) ? (await readdir(STATE)).filter((name) => name.startsWith('demo-')) : [];
}

/** Far beyond what it takes on an idle machine: other tests use the processors too. */
const PATIENCE_MILLISECONDS = 900_000;

describe('npm run demo', { timeout: PATIENCE_MILLISECONDS }, () => {
  it('works through 41 packages with a window that they exceed three times, survives two kills, every fact is right, and with --keep it runs on until Ctrl-C', async () => {
    const before = await demoFolders();
    let ui = '';
    let reached = false;
    const played = await play(['--json', '--keep'], (output, signal) => {
      if (ui !== '' || !output.includes('Ctrl-C stops it')) return;
      ui = /Temporal UI +(http:\S+?)\/namespaces/u.exec(output)?.[1] ?? '';
      void fetch(ui)
        .then((response) => (reached = response.ok))
        .finally(() => signal('SIGINT'));
    });
    const result = resultOf(played);
    expect(result.problems, played.output).toEqual([]);
    expect(played.status).toBe(0);
    expect(result).toMatchObject({ ok: true, outcome: 'completed', files: 82, filesRead: 82, factsExpected: 164 });
    expect(result).toMatchObject({ factsRight: 164, kills: 2, lostEntries: 0, doubledEntries: 0, window: 32_768 });
    expect(result.takeoverMs).toHaveLength(2);
    expect(result.compactions).toBeGreaterThanOrEqual(3);
    expect(result.maxTokens).toBeLessThanOrEqual(32_768);
    expect(result.tokensWithoutCompaction).toBeGreaterThan(3 * 32_768);
    expect(result.historyBytes / result.steps).toBeLessThanOrEqual(4_096);
    expect(played.output).toMatch(
      /kill 1: SIGKILL of worker \d+, inside a tool call[^\n]*\n(?:[^\n]*\n)*?[^\n]*takeover 1: worker \d+ goes on with runTool/u,
    );
    expect(played.output).toMatch(/kill 2: SIGKILL of worker \d+, inside a summarization/u);
    expect(played.output).toContain('takeover 2: worker');
    expect(reached).toBe(true);
    const isUp = async (): Promise<boolean> =>
      fetch(ui).then(
        () => true,
        () => false,
      );
    await waitUntil('the stack is stopped', async () => !(await isUp()));
    const kept = (await demoFolders()).filter((name) => !before.includes(name));
    expect(kept).toHaveLength(1);
    await rm(join(STATE, kept[0] ?? ''), { recursive: true, force: true });
  });

  it('stops and removes everything on Ctrl-C', async () => {
    const before = await demoFolders();
    let pressed = false;
    const played = await play(['--no-kills'], (output, signal) => {
      if (pressed || !output.includes('files read')) return;
      pressed = true;
      signal('SIGINT');
    });
    expect(played.status).toBe(130);
    expect(played.errors).toContain('Interrupted; everything of the demo is stopped and removed.');
    expect((await demoFolders()).filter((name) => !before.includes(name))).toEqual([]);
  });

  it('refuses wrong flags in one line, without starting anything', async () => {
    const played = await play(['--window', '32']);
    expect(played.status).toBe(2);
    expect(played.errors).toContain('A window is 8k, 32k, 200k');
    expect(played.errors).toContain('npm run demo -- --help');
    expect(played.output).toBe('');
  });
});
