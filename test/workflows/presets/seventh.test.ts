import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { presets } from '../../../src/index.ts';
import type { CompactionPolicy } from '../../../src/index.ts';
import { startTurnHarness } from '../../support/turn-harness.ts';
import type { TurnHarness } from '../../support/turn-harness.ts';
import { readTask, requestBodies, writeLogs } from './scenario.ts';

const { default: base } = presets;
if (base === undefined) throw new Error('there is no preset default');

/** A preset as a user writes one: half the window, one section of its own, a question before the summary. */
const SEVENTH: CompactionPolicy = {
  ...base,
  name: 'seventh',
  trigger: { fraction: 0.5, of: 'window' },
  target: { fraction: 0.25, of: 'window' },
  reduce: [],
  keep: { ...base.keep, tail: { fraction: 0.1, of: 'window' }, userMessages: { tokens: 1_000 } },
  summary: {
    ...base.summary,
    when: 'always',
    sections: [
      { title: 'Pumps So Far', subject: 'progress', instruction: 'Every pump, one line each.' },
      { title: 'Pumps Left', subject: 'open', instruction: 'What is still to be read.' },
    ],
    maximumOutput: { fraction: 0.05, of: 'window' },
    question: 'Which pumps did you see?',
  },
};

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { model: 'simulator/sim-32k' }, presets: [SEVENTH] });
  await writeLogs(harness, 6);
  await harness.startWorker();
});

afterAll(() => harness.stop());

test('a preset that a user defines through the public API runs without any change of the pipeline', async () => {
  const sent = await harness.client.start(readTask(6), { preset: 'seventh' });
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 100_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  const summaries = await harness.client.log.summaries({ conversationId: sent.conversationId });
  expect(summaries.length).toBeGreaterThan(0);
  for (const { preset, text, tokensBefore } of summaries) {
    expect(preset).toBe('seventh');
    expect(text).toContain('## Pumps So Far');
    expect(tokensBefore).toBeGreaterThan(16_384);
  }
  expect((await requestBodies(harness, 'agent')).at(-1)).toContain('Which pumps did you see?');
}, 400_000);

test('a name that is taken is refused', () => {
  const directory = harness.workspace;
  const load = () => loadConfiguration({ directory, environment: {}, presets: [{ ...SEVENTH, name: 'pi' }] });
  expect(load).toThrow('Two presets are called pi');
});
