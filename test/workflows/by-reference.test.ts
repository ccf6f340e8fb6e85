import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { expect, test } from 'vitest';
import type { Holdfast } from '../../src/client/holdfast.ts';

import { readHistory } from '../../dev/demo/history.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';

/** Strings that stand in messages, files, arguments, errors, rules and instructions; none may reach Temporal. */
const PLANTED = ['zanzibar', 'quokka', 'xylophone', 'marzipan', 'ocelot', 'vuvuzela', 'bandicoot'] as const;

const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: z.object({ why: z.string() }),
  effect: 'none',
  run: ({ why }) => Promise.reject(new Error(`vuvuzela ${why}`)),
});

const harness = useWorkingHarness({
  tools: [fail],
  agent: {
    model: 'simulator/sim-200k',
    tools: ['fail', 'read_file', 'list_files'],
    instructions: 'Think of bandicoot.',
    rules: ['Rule: ocelot.'],
  },
});

/** Everything that Temporal stores of all turns of a conversation. */
async function storedByTemporal(conversationId: string): Promise<string> {
  const runs = await harness.database<{ run: string }[]>`
    select unnest(array[begun_by_run_id, run_id]) as run from turns where conversation_id = ${conversationId} group by 1`;
  return (await Promise.all(runs.map(({ run }) => storedOfRun(conversationId, run)))).join('\n');
}

/** A run's history with payloads decoded, its description, memo and details. */
async function storedOfRun(conversationId: string, runId: string): Promise<string> {
  const handle = harness.temporal.workflow.getHandle(turnWorkflowId(conversationId), runId);
  const history = await handle.fetchHistory();
  const payloads: string[] = [];
  const collect = (value: unknown): void => {
    if (value instanceof Uint8Array) payloads.push(Buffer.from(value).toString('utf8'));
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
    else if (typeof value === 'string') payloads.push(value);
  };
  collect(history);
  const description = await handle.describe();
  collect([
    await description.staticSummary(),
    await description.staticDetails(),
    description.memo,
    description.searchAttributes,
  ]);
  collect(await handle.query('__temporal_workflow_metadata'));
  return payloads.join('\n').toLowerCase();
}

test('no text of a message, tool, error, rule or instruction is anywhere in Temporal', async () => {
  await writeFile(join(harness.workspace, 'quokka.txt'), 'xylophone '.repeat(50));
  const turn = await harness.runTask(
    'zanzibar\nCall read_file with {"path": "quokka.txt"}\nCall fail with {"why": "marzipan"}\nCall read_file with {"path": "missing-quokka.txt"}',
  );
  expect(turn.outcome).toBe('completed');
  const stored = await storedByTemporal(turn.conversationId);
  expect(stored).toContain(turn.conversationId);
  expect(PLANTED.filter((word) => stored.includes(word))).toEqual([]);
});

test('nor is the text of a summary, of its focus, of an answer, of a steering message, or of a failed call', async () => {
  const planted = ['numbat', 'dugong', 'pangolin', 'wombat', 'axolotl'];
  for (let file = 1; file <= 6; file += 1) {
    await writeFile(join(harness.workspace, `log-${file}.txt`), `numbat ${file} opens at ${file} bar. `.repeat(120));
  }
  await harness.fault({
    kind: 'status',
    status: 500,
    body: { type: 'error', error: { type: 'api_error', message: 'The axolotl sleeps.' } },
    skip: 1,
    match: { model: 'sim-8k', purpose: 'agent' },
  });
  const answer = await harness.hold({ model: 'sim-8k', purpose: 'agent' });
  const task = 'Call read_file with {"path": "log-$index.txt"} 6 times, one by one\nSay pangolin';
  const sent = await harness.client.start(task, { model: 'simulator/sim-8k' });
  const { conversationId } = sent;
  await harness.client.conversation.send({ conversationId, content: 'Mind the wombat.', mode: 'steer' });
  await answer();
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'completed' });
  const asked = await harness.client.conversation.compact({ conversationId, focus: 'the dugong' });
  await harness.client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 });
  const summaries = await harness.client.log.summaries({ conversationId });
  expect(JSON.stringify(summaries)).toContain('numbat');
  const failed = await harness.database`
    select from model_attempts where conversation_id = ${conversationId} and failure_evidence = 'HTTP 500'`;
  expect(failed).toHaveLength(1);
  const stored = await storedByTemporal(conversationId);
  expect(stored).toContain(conversationId);
  expect(planted.filter((word) => stored.includes(word))).toEqual([]);
});

test('R34 history stays under 4 KB a step at a conversation of 200,000 tokens', async () => {
  await writeFile(join(harness.workspace, 'large.txt'), 'The quick brown fox jumps over the lazy dog. '.repeat(2_000));
  const first = await harness.runTask('Call read_file with {"path": "large.txt"} 12 times');
  const { conversationId } = first;
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 12 times, one by one', {
    conversationId,
  });
  expect(turn).toMatchObject({ outcome: 'completed', steps: 13 });
  const { bytes } = await readHistory(harness.temporal, conversationId);
  expect(bytes / 13).toBeLessThan(4_096);
});

test('a turn of 100 calls goes on in a new run before its history takes long to replay, and its entries are listed in pages', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 100 times, one by one', {
    timeoutMilliseconds: 200_000,
  });
  expect(turn).toMatchObject({ outcome: 'completed', steps: 101 });
  const { conversationId } = turn;
  const { events, continuedAsNew } = await readHistory(harness.temporal, conversationId);
  expect(continuedAsNew).toBeGreaterThan(0);
  expect(events / (continuedAsNew + 1)).toBeLessThan(1_100);
  const { items } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  await expectPages(conversationId, items.length);
});

/** Without bounds the newest entries are listed, and each page says whether there are more. */
async function expectPages(conversationId: string, count: number): Promise<void> {
  const sequencesOf = async (bounds: Omit<Parameters<Holdfast['log']['entries']>[0], 'conversationId'>) => {
    const { items, hasMore } = await harness.client.log.entries({ conversationId, ...bounds });
    return { first: items[0]?.sequence, last: items.at(-1)?.sequence, hasMore };
  };
  const newest = { first: count - 99, last: count, hasMore: true };
  expect(await sequencesOf({})).toEqual(newest);
  expect(await sequencesOf({ beforeSequence: 91 })).toEqual({ first: 1, last: 90, hasMore: false });
  expect(await sequencesOf({ afterSequence: 0, limit: 10 })).toEqual({ first: 1, last: 10, hasMore: true });
  expect(await sequencesOf({ afterSequence: count - 1 })).toEqual({ first: count, last: count, hasMore: false });
}
