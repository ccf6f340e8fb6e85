import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runInProcess } from '../run-in-process.ts';

test('models are found by a part of their name, without a database, each with source and day', async () => {
  const result = await runInProcess(['model', 'list', 'Anthropic/Claude-Sonnet-5-5']);
  expect(result.code).toBe(0);
  expect(result.stdout).toMatch(
    /^anthropic\/claude-sonnet-5-5 +1,000,000 +1,000,000 +128,000 +2 +10 +0\.1 +2\.5 +\S+ [\d.]+, \d{4}-\d{2}-\d{2}$/m,
  );
  expect(result.stderr).toContain('stack_not_started');
});

test('an unknown price is unknown, never 0, and a second tier of prices has a line of its own', async () => {
  const result = await runInProcess(['model', 'list', 'openai/gpt-5']);
  expect(result.stdout).toMatch(/^openai\/gpt-5-pro .* unknown +0 /m);
  expect(result.stdout).toMatch(/^ {2}input over 272,000 +5 +22\.5 +0\.5 +0$/m);
});

test('--json gives the facts of a model', async () => {
  const result = await runInProcess(['model', 'list', 'anthropic/claude-haiku-5-5', '--json']);
  const { models } = JSON.parse(result.stdout) as { models: unknown[] };
  expect(models).toContainEqual(
    expect.objectContaining({
      name: 'anthropic/claude-haiku-5-5',
      known: true,
      learned: [],
      prices: expect.objectContaining({ longInput: expect.objectContaining({ aboveTokens: 100_000 }) }),
    }),
  );
});

test('without a filter the models that configuration names are listed, fallbacks too; a refresh of none says so', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-models-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const agent = '{ model: simulator/sim-8k, fallbacks: [simulator/sim-16k, simulator/sim-64k] }';
  await writeFile(join(directory, 'holdfast.yaml'), `agents:\n  default: ${agent}\n`);
  const { stdout } = await runInProcess(['model', 'list'], { directory });
  const names = stdout.split('\n').flatMap((line) => /^simulator\S+/.exec(line) ?? []);
  expect(names).toEqual(['simulator/sim-16k', 'simulator/sim-32k', 'simulator/sim-64k', 'simulator/sim-8k']);
  const environment = { DATABASE_URL: 'postgresql://127.0.0.1:9/none' };
  const refreshed = await runInProcess(['model', 'list', 'claude', '--refresh'], { directory, environment });
  expect(refreshed.stderr).toContain('no model that configuration names has that in its name');
});

test('a time that cannot be read is refused with what is accepted', async () => {
  const result = await runInProcess(['cost', '--since', 'yesterday']);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('2026-11-01');
});
