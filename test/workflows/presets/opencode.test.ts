import { afterEach, beforeAll, expect, test } from 'vitest';
import type { StoredSummary } from '../../../src/client/types.ts';
import { expectAllHolds } from '../../support/expect-all-holds.ts';
import { startDyingWorkers } from '../../support/worker-deaths.ts';
import { useTurnHarness } from '../../support/turn-harness.ts';
import { expectDeathsInEach, eventsOf, expectWholeLog, MODEL, readTask, requestBodies, writeLogs } from './scenario.ts';

/** The conversation of the first test. */
let pivoted: {
  readonly conversationId: string;
  readonly clearing: StoredSummary | undefined;
  readonly pivot: StoredSummary | undefined;
  /** The message whose turn ends with the clearing. */
  readonly clearedAfter: string;
};
const isCall = (part: { readonly type: string }): boolean => part.type === 'tool_call';
const MARK = '[Old tool result content cleared]';

const harness = useTurnHarness({ agent: { model: MODEL, preset: 'opencode' } });

beforeAll(async () => {
  await writeLogs(harness, 11);
});

afterEach(() => harness.clearFaults());

test('O7 O8 O14 a marker is queued as a task, served before the next call, and the view begins there, also when a worker dies in every activity', async () => {
  const { conversationId } = await harness.client.start(readTask(5), { preset: 'opencode', model: MODEL });
  const say = async (content: string) => harness.client.conversation.send({ conversationId, content, mode: 'queue' });
  await say('Say one');
  // The end of the turn with this message clears old results; the last message brings the view over its window.
  const cleared = await say('Say two');
  const sent = await say(readTask(10));
  const deaths = await startDyingWorkers(harness);
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 250_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  expectDeathsInEach(deaths);
  await expectAllHolds(harness);
  const [clearing, compaction] = await harness.client.log.summaries({ conversationId });
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  const [row] = await harness.database<{ headEntryId: string; markerEntryId: string; firstKeptSequence: number }[]>`
    select head_entry_id, marker_entry_id, first_kept_sequence from compactions where id = ${compaction?.compactionId ?? ''}`;
  const at = entries.findIndex(({ entryId }) => entryId === row?.markerEntryId);
  const marker = entries[at];
  // Marker, then the note that asks to go on, then the next answer.
  expect(entries.slice(at, at + 3).map((entry) => entry.kind)).toEqual(['compaction', 'note', 'assistant']);
  expect(row).toMatchObject({ headEntryId: marker?.entryId, firstKeptSequence: marker?.sequence });
  const events = await eventsOf(harness, conversationId);
  const kinds = events.map(({ kind }) => kind);
  const started = kinds.lastIndexOf('compaction_started');
  expect(kinds.slice(started, kinds.lastIndexOf('compaction_committed'))).not.toContain('model_call_started');
  await expectWholeLog(harness, conversationId, 15);
  pivoted = { conversationId, clearing, pivot: compaction, clearedAfter: cleared.messageId };
});

test('O16 O19 O21 old results are cleared after a turn: 40,000 tokens stay, more than 20,000 are won', async () => {
  const { conversationId, clearing, clearedAfter } = pivoted;
  expect(clearing).toMatchObject({ trigger: 'maintenance', form: 'reduction', text: null });
  // Not before two more messages of the user have come.
  const turns = await harness.database`
    select from compactions c join messages m on m.turn_id = c.turn_id
    where c.id = ${clearing?.compactionId ?? ''} and m.id = ${clearedAfter}`;
  expect(turns).toHaveLength(1);
  // What is cleared is a flag beside the log, with its time.
  const [mark] = await harness.client.log.lineage({ conversationId });
  expect(mark?.changes.map(({ method, toolName }) => [method, toolName])).toContainEqual(['clear', 'read_file']);
  expect(Date.parse(clearing?.createdAt ?? '')).toBeGreaterThan(0);
  const bodies = await requestBodies(harness, 'agent');
  const body = bodies.find((each) => each.includes(MARK)) ?? '';
  expect(body.split(MARK).length - 1).toBeGreaterThanOrEqual(2);
  expect(body.includes('pump 50001 ')).toBe(true);
  // Nothing new is old: the turn that followed cleared nothing more.
  const passes = await harness.client.log.summaries({ conversationId });
  expect(passes.map(({ trigger }) => trigger)).toEqual(['maintenance', 'threshold']);
});

test('O2 the log has roles and typed parts, tool calls with input, output and times, the marker, the summary and what was cleared', async () => {
  const { conversationId, pivot: pass } = pivoted;
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  const kinds = new Set(entries.map(({ kind }) => kind));
  expect([...kinds].toSorted()).toEqual(['assistant', 'compaction', 'note', 'tool_result', 'user']);
  const answer = entries.find(({ kind, content }) => kind === 'assistant' && content.some(isCall));
  const call = answer?.content.find(isCall);
  expect(call).toMatchObject({ type: 'tool_call', name: 'read_file', arguments: expect.stringContaining('log-') });
  const [stored] = await harness.database<{ entryId: string; claimedAt: Date; finishedAt: Date }[]>`
    select result_entry_id as entry_id, claimed_at, finished_at from tool_calls
    where conversation_id = ${conversationId} order by finished_at limit 1`;
  expect(entries.find(({ entryId }) => entryId === stored?.entryId)).toMatchObject({ kind: 'tool_result' });
  expect(stored?.finishedAt.getTime()).toBeGreaterThanOrEqual(stored?.claimedAt.getTime() ?? Infinity);
  // The marker is the user's side of the question; whether it came by itself stands beside it.
  expect(pass).toMatchObject({ trigger: 'threshold', text: expect.stringContaining('## Objective') });
  const lineage = await harness.client.log.lineage({ conversationId });
  const read = lineage[1]?.parts.flatMap((part) => part.entries.map(({ sequence }) => sequence)) ?? [];
  expect(read.at(-1)).toBe(pass?.coveredThroughSequence);
});

test('O13 O25 after it the model is asked what was done, sees the summary as its answer, and is asked to continue', async () => {
  const after = (await requestBodies(harness, 'agent')).find((body) =>
    body.includes('Continue if you have next steps'),
  );
  expect(after).toBeDefined();
  const { messages } = JSON.parse(after ?? '{}') as { messages: { role: string; content: unknown }[] };
  expect(messages.map((message) => message.role).slice(0, 3)).toEqual(['user', 'assistant', 'user']);
  expect(JSON.stringify(messages[0]?.content)).toContain('What did we do so far?');
  expect(JSON.stringify(messages[1]?.content)).toContain('## Objective');
});
