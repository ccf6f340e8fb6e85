import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { closeTheTicket, nameTheTicket } from '../../../docs/examples/own-hook.ts';
import { tickets } from '../../../docs/examples/own-preset.ts';
import { newestPerTool } from '../../../docs/examples/own-reducer.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { useTurnHarness } from '../../support/turn-harness.ts';
import { readTask, requestBodies, writeLogs } from './scenario.ts';

const harness = useTurnHarness({
  agent: { model: 'simulator/sim-32k' },
  presets: [tickets],
  reducers: [newestPerTool],
  beforeCompaction: [closeTheTicket, nameTheTicket],
});

beforeAll(async () => {
  await writeLogs(harness, 6);
  await harness.startWorker();
});

test('the preset and the hook of docs/compaction.md run through the public API', async () => {
  const sent = await harness.client.start(`${readTask(6)}\nIt is for TICKET-4711.`, { preset: 'tickets' });
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 200_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  const summaries = await harness.client.log.summaries({ conversationId: sent.conversationId });
  expect(summaries.length).toBeGreaterThan(0);
  for (const { preset, text, tokensBefore } of summaries) {
    expect(preset).toBe('tickets');
    expect(text).toContain('## Tickets So Far');
    expect(tokensBefore).toBeGreaterThan(16_384);
  }
  expect((await requestBodies(harness, 'agent')).at(-1)).toContain('Which tickets did you see?');
  expect((await requestBodies(harness, 'summary')).at(-1)).toContain('about TICKET-4711: name it first');
});

test('what a message pins stands word for word in each request after compactions, is listed and removed', async () => {
  const rule = 'Never open valve "7" above 40 bar.';
  const { conversationId } = await harness.runTask(`${readTask(6)}\n/pin ${rule}`);
  expect(await harness.client.conversation.pins({ conversationId })).toEqual([rule]);
  const bodies = await requestBodies(harness, 'agent');
  expect(bodies.at(-1)).toContain(JSON.stringify(rule).slice(1, -1));
  const unpin = () => harness.client.conversation.unpin({ conversationId, pin: 1, messageId: 'unpin' });
  expect(await unpin()).toMatchObject({ duplicate: false });
  const sent = await harness.client.conversation.pin({ conversationId, rule: 'Answer\nin Dutch.' });
  await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 200_000 });
  expect(await harness.client.conversation.pins({ conversationId })).toEqual(['Answer in Dutch.']);
  await harness.runTask('/unpin 1', { conversationId });
  expect(await unpin()).toMatchObject({ duplicate: true });
});

test.each(['own-preset', 'own-reducer', 'own-hook'])('docs/compaction.md shows docs/examples/%s.ts', async (name) => {
  const page = await readFile(new URL('../../../docs/compaction.md', import.meta.url), 'utf8');
  expect(page).toContain(await readFile(new URL(`../../../docs/examples/${name}.ts`, import.meta.url), 'utf8'));
});

test('a name that is taken is refused', () => {
  const directory = harness.workspace;
  const load = () => loadConfiguration({ directory, environment: {}, presets: [{ ...tickets, name: 'pi' }] });
  expect(load).toThrow('Two presets are called pi');
});
