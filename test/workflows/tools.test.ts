import { z } from 'zod';
import { expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Begin and end of every call, in order. */
const journal: string[] = [];
let running = 0;
let mostRunning = 0;

async function work(name: string): Promise<void> {
  running += 1;
  mostRunning = Math.max(mostRunning, running);
  journal.push(`begin ${name}`);
  // Long enough for a second call to begin if it were allowed to.
  await new Promise((resolve) => setTimeout(resolve, 150));
  journal.push(`end ${name}`);
  running -= 1;
}

const shared = defineTool({
  name: 'shared',
  description: 'May run beside others.',
  input: z.object({ name: z.coerce.string() }),
  effect: 'none',
  run: async ({ name }) => {
    await work(name);
    return { content: `did ${name}` };
  },
});

/** Holds every call until the test lets all of them go. */
const gate = { held: 0, open: (): void => undefined, opened: Promise.resolve() };
gate.opened = new Promise((resolve) => {
  gate.open = resolve;
});

const held = defineTool({
  ...shared,
  name: 'held',
  description: 'Waits for the others.',
  run: async ({ name }) => {
    gate.held += 1;
    await gate.opened;
    return { content: `let ${name} go` };
  },
});

const exclusive = defineTool({ ...shared, name: 'exclusive', description: 'Runs alone.', exclusive: true });

const noisy = defineTool({
  name: 'noisy',
  description: 'Prints a lot, with bytes that are no text.',
  input: z.object({}),
  effect: 'none',
  run: async (_input, { output }) => {
    for (let line = 0; line < 4_000; line += 1) await output.write(`line ${line} of the output\n`);
    await output.write(Uint8Array.of(0xff, 0x00, 0xfe));
    return { content: '' };
  },
});

const harness = useWorkingHarness({
  tools: [shared, held, exclusive, noisy],
  agent: { tools: ['shared', 'held', 'exclusive', 'noisy', 'recall_open'] },
});

test('calls of one answer run at once, eight at a time', async () => {
  const sent = await harness.client.start('Call held with {"name": "$index"} 20 times');
  await waitUntil('eight calls are held', () => gate.held >= 8);
  const { raw } = await harness.temporal.workflow.getHandle(turnWorkflowId(sent.conversationId)).describe();
  const scheduled = raw.pendingActivities?.filter(({ activityType }) => activityType?.name === 'runTool');
  expect(scheduled).toHaveLength(8);
  gate.open();
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn.outcome).toBe('completed');
  expect(gate.held).toBe(20);
});

test('an exclusive tool runs alone and in order', async () => {
  mostRunning = 0;
  journal.length = 0;
  await harness.runTask('Call exclusive with {"name": "$index"} 4 times');
  expect(mostRunning).toBe(1);
  expect(journal.filter((line) => line.startsWith('begin'))).toEqual(['begin 1', 'begin 2', 'begin 3', 'begin 4']);
});

test('output of any size is stored whole and byte for byte, shown clipped with how to open the rest', async () => {
  const turn = await harness.runTask('Call noisy with {}');
  const { items: entries } = await harness.client.log.entries({ conversationId: turn.conversationId });
  const result = entries.find((entry) => entry.kind === 'tool_result');
  const shown = textOf(result?.content ?? []);
  expect(shown.length).toBeLessThan(13_000);
  expect(shown).toContain(`recall_open {"entry_id": "${result?.entryId}"`);
  const opened = await harness.client.log.open({ entryId: result?.entryId ?? '' });
  const original = Buffer.from(opened.original ?? []);
  expect(original.subarray(-3)).toEqual(Buffer.from([0xff, 0x00, 0xfe]));
  expect(original.toString('latin1').split('\n').slice(0, -1)).toEqual(
    Array.from({ length: 4_000 }, (_, line) => `line ${line} of the output`),
  );
});

test('live text arrives while the model writes, without a gap, and is what the stored answer says', async () => {
  const sent = await harness.client.start('Write 400 words');
  const pieces: { offset: number; text: string }[] = [];
  let answered = '';
  for await (const update of harness.client.conversation.watch({ conversationId: sent.conversationId })) {
    if (update.type === 'live_text' && update.text.kind === 'text') pieces.push(update.text);
    if (update.type === 'event' && update.event.kind === 'turn_ended') break;
  }
  const { items: entries } = await harness.client.log.entries({ conversationId: sent.conversationId });
  answered = textOf(entries.at(-1)?.content ?? []);
  expect(pieces.length).toBeGreaterThan(0);
  let length = 0;
  for (const piece of pieces) {
    expect(piece.offset).toBe(length);
    length += piece.text.length;
  }
  expect(pieces.map((piece) => piece.text).join('')).toBe(answered);
});
