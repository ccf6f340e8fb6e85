import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/temporal/names.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;
/** Strings that stand in messages, files, arguments, errors, rules and instructions; none may reach Temporal. */
const PLANTED = ['zanzibar', 'quokka', 'xylophone', 'marzipan', 'ocelot', 'vuvuzela', 'bandicoot'] as const;

const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: z.object({ why: z.string() }),
  effect: 'none',
  run: ({ why }) => Promise.reject(new Error(`vuvuzela ${why}`)),
});

beforeAll(async () => {
  harness = await startTurnHarness({
    tools: [fail],
    agent: {
      model: 'simulator/sim-200k',
      tools: ['fail', 'read_file', 'list_files'],
      instructions: 'Think of bandicoot.',
      rules: ['Rule: ocelot.'],
    },
  });
  await harness.startWorker();
});

afterAll(() => harness.stop());

/** Everything that Temporal stores of a turn: history with payloads decoded, description, memo, details. */
async function storedByTemporal(conversationId: string): Promise<string> {
  const handle = harness.temporal.workflow.getHandle(turnWorkflowId(conversationId));
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

test('R34 history stays under 4 KB a step over 100 calls at a conversation of 200,000 tokens', async () => {
  await writeFile(join(harness.workspace, 'large.txt'), 'The quick brown fox jumps over the lazy dog. '.repeat(2_000));
  const first = await harness.runTask('Call read_file with {"path": "large.txt"} 12 times');
  const { conversationId } = first;
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 100 times, one by one', {
    conversationId,
    timeoutMilliseconds: 200_000,
  });
  expect(turn).toMatchObject({ outcome: 'completed', steps: 101 });
  const description = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).describe();
  expect((description.historySize ?? 0) / 101).toBeLessThan(4_096);
}, 240_000);

test('200 tool calls in one answer stay within the payload limit', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 200 times');
  expect(turn.outcome).toBe('completed');
});
