import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../../dev/demo/options.ts';
import { runDemo } from '../../../dev/demo/run-demo.ts';
import type { Output } from '../../../src/cli/output.ts';
import { PLAIN_STYLE } from '../../../src/cli/render/text/style.ts';
import { waitUntil } from '../../support/wait-until.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const STATE = join(ROOT, '.holdfast');

/** Output without a terminal. @param onOutput sees all of it so far */
function collectOutput(onOutput: (output: string) => void): Output {
  let printed = '';
  const write = (text: string): void => {
    printed += text;
    onOutput(printed);
  };
  const line = (text = ''): void => write(`${text}\n`);
  return {
    style: PLAIN_STYLE,
    columns: null,
    rows: 24,
    repaints: false,
    write,
    line,
    lines: (lines) => lines.forEach((each) => line(each)),
    json: (value) => line(JSON.stringify(value)),
    remark: line,
  };
}

/**
 * Runs the demo as `npm run demo` does.
 * @param seen once this is printed, Ctrl-C is pressed
 */
async function interrupt(flags: readonly string[], seen: string) {
  const child = spawn(process.execPath, [join(ROOT, 'scripts/run.mjs'), 'demo', ...flags], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: the terminal signals the whole group.
    detached: true,
  });
  let output = '';
  let errors = '';
  let pressed = false;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (pressed || child.pid === undefined || !output.includes(seen)) return;
    pressed = true;
    process.kill(-child.pid, 'SIGINT');
  });
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
  return { status, errors };
}

async function demoFolders(): Promise<string[]> {
  return existsSync(STATE) ? (await readdir(STATE)).filter((name) => name.startsWith('demo-')) : [];
}

/** Far beyond what it takes on an idle machine: other tests use the processors too. */
const PATIENCE_MILLISECONDS = 900_000;

describe('npm run demo', { timeout: PATIENCE_MILLISECONDS }, () => {
  it('works through 41 packages with a window that they exceed three times, survives two kills, every fact is right, and with --keep it runs on until Ctrl-C', async () => {
    const before = await demoFolders();
    const leaving = new AbortController();
    let printed = '';
    let ui = '';
    let reached = false;
    const output = collectOutput((all) => {
      printed = all;
      if (ui !== '' || !all.includes('Ctrl-C stops it')) return;
      ui = /Temporal UI +(http:\S+?)\/namespaces/u.exec(all)?.[1] ?? '';
      void fetch(ui)
        .then((response) => (reached = response.ok))
        .finally(() => leaving.abort());
    });
    const options = parseOptions(['--keep']) ?? expect.unreachable('help was not asked for');
    const result = (await runDemo(options, output, leaving.signal)) ?? expect.unreachable('it was not interrupted');
    expect(result.problems, printed).toEqual([]);
    expect(result).toMatchObject({ ok: true, outcome: 'completed', files: 82, filesRead: 82, factsExpected: 164 });
    expect(result).toMatchObject({ factsRight: 164, kills: 2, lostEntries: 0, doubledEntries: 0, window: 32_768 });
    expect(result.takeoverMs).toHaveLength(2);
    expect(result.compactions).toBeGreaterThanOrEqual(3);
    expect(result.maxTokens).toBeLessThanOrEqual(32_768);
    expect(result.tokensWithoutCompaction).toBeGreaterThan(3 * 32_768);
    expect(result.historyBytes / result.steps).toBeLessThanOrEqual(4_096);
    expect(printed).toMatch(
      /kill 1: SIGKILL of worker \d+, inside a tool call[^\n]*\n(?:[^\n]*\n)*?[^\n]*takeover 1: worker \d+ goes on with runTool/u,
    );
    expect(printed).toMatch(/kill 2: SIGKILL of worker \d+, inside a summarization/u);
    expect(printed).toContain('takeover 2: worker');
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
    const played = await interrupt(['--no-kills'], 'files read');
    expect(played.status).toBe(130);
    expect(played.errors).toContain('Interrupted; everything of the demo is stopped and removed.');
    expect((await demoFolders()).filter((name) => !before.includes(name))).toEqual([]);
  });

  it('refuses wrong flags', () => {
    expect(() => parseOptions(['--window', '32'])).toThrow('A window is 8k, 32k, 200k');
  });
});
