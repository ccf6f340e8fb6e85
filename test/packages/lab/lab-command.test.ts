import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { generateSession } from '../../../dev/bench/generated/generate-session.ts';
import { startSimulator } from '../../../packages/simulator/src/index.ts';
import type { Simulator } from '../../../packages/simulator/src/index.ts';
import { startHttpServer } from '../../support/http-server.ts';
import type { HttpServer } from '../../support/http-server.ts';
import { runInProcess } from '../../cli/run-in-process.ts';
import { labCommand } from '../../../packages/lab/src/lab-command.ts';
import { writeSession } from './lab-harness.ts';

let directory: string;
let file: string;
/** As long as a table or a row needs. */
let short: string;
let simulator: Simulator;
/** Sees what the simulator is asked. */
let relay: HttpServer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-lab-command-'));
  file = await writeSession(directory, 'coding.jsonl', generateSession('coding', 3, 18));
  short = await writeSession(directory, 'short.jsonl', generateSession('coding', 3, 4));
  simulator = await startSimulator();
  relay = await startHttpServer((request, response) => {
    void fetch(`${simulator.url}${request.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: request.text,
    }).then(async (answer) => {
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(await answer.text());
    });
  });
});

afterAll(async () => {
  await relay.close();
  await simulator.close();
  await rm(directory, { recursive: true });
});

const lab = (args: readonly string[], simulatorUrl = simulator.url) =>
  runInProcess(
    args,
    { directory, environment: { HOLDFAST_SIMULATOR_URL: simulatorUrl, DATABASE_URL: inject('databaseUrl') } },
    async () => labCommand(),
  );

interface Line {
  readonly files: readonly { readonly unknown: Record<string, number> }[];
  readonly summarizers: Record<string, string>;
  readonly presets: readonly Record<string, unknown>[];
}

const lastLine = (stdout: string): Line => JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Line;

test('--json ends with one object: a row for each preset and window, with what the same is worth without summaries and recall', async () => {
  const { code, stdout } = await lab([short, '--preset', 'default,pi', '--window', '16k,32k', '--json']);
  expect(code).toBe(0);
  const { presets } = lastLine(stdout);
  expect(presets.map(({ name, window }) => [name, window])).toEqual([
    ['default', 16_000],
    ['pi', 16_000],
    ['default', 32_000],
    ['pi', 32_000],
  ]);
  const numbers = [
    'passes',
    'maxFill',
    'overflows',
    'tokensSent',
    'summaryTokens',
    'cost',
    'factsInView',
    'factsByRecall',
  ];
  for (const row of presets) {
    for (const name of numbers) expect(row[name], name).toEqual(expect.any(Number));
    expect(row['orphans']).toBe(0);
    expect(row['withoutSummaries']).toMatchObject({ factsInView: expect.any(Number) });
    expect(row['withoutRecall']).toMatchObject({ factsByRecall: 0 });
  }
});

test('--model asks that model over HTTP for the summaries', async () => {
  const options = ['--preset', 'pi', '--window', '16k', '--model', 'simulator/sim-200k', '--json'];
  const { code, stdout } = await lab([file, ...options], relay.url);
  expect(code).toBe(0);
  const { summarizers, presets } = lastLine(stdout);
  expect(summarizers).toEqual({ 16000: 'simulator/sim-200k' });
  const asked = relay.requests.filter(({ path }) => path.startsWith('/v1/messages'));
  expect(asked.length).toBeGreaterThan(0);
  expect(presets[0]).toMatchObject({ summaryFailures: 0, summaryCalls: asked.length });
  expect(asked[0]?.body).toMatchObject({ model: 'sim-200k' });
});

test('the tables; unknown records are counted and named', async () => {
  const strange = join(directory, 'strange.jsonl');
  const session = { type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/' };
  const message = { role: 'user', content: [{ type: 'text', text: 'Hello.' }], timestamp: 0 };
  const lines = [session, { type: 'message', id: 'a', parentId: null, message }, { type: 'hologram', id: 'b' }];
  await writeFile(strange, lines.map((line) => JSON.stringify(line)).join('\n'));
  const { code, stdout } = await lab([short, strange, '--window', '16k']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/hologram/);
  for (const preset of ['default', 'wolffish', 'pi', 'cowork', 'goagent', 'opencode']) expect(stdout).toContain(preset);
});

describe('what cannot be used is refused with what to do', () => {
  test.each([
    ['a window that is no number', ['--window', 'big'], 2, /32k,200k/],
    ['a window that holds no agent', ['--window', '1k'], 2, /4096/],
    ['a preset that there is not', ['--preset', 'gostly'], 2, /gostly/],
    ['a model of an unknown provider', ['--model', 'nobody/none'], 2, /nobody/],
    ['no facts', ['--facts', '0'], 2, /facts/],
  ] as const)('%s', async (_, options, expected, words) => {
    const { code, stdout, stderr } = await lab([file, ...options]);
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('a file that is none, and one of no known format', async () => {
    const missing = await lab([join(directory, 'missing.jsonl')]);
    expect([missing.code, missing.stderr]).toEqual([4, expect.stringContaining('missing.jsonl')]);
    const text = join(directory, 'notes.txt');
    await writeFile(text, 'Only notes.\nNo session.\n');
    const unknown = await lab([text]);
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('notes.txt')]);
  });
});
