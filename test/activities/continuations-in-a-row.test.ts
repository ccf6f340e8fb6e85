import { expect, test } from 'vitest';
import { compactContext } from '../../src/activities/compaction/compact-context.ts';
import { getCompaction } from '../../src/store/compactions/compactions.ts';
import { appendNote } from '../../src/store/log/entries.ts';
import { readShownNotes } from '../../src/store/log/notes.ts';
import { prose } from '../context/builders.ts';
import { answer, finishToolCall, startTurn, text, useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

const { sql } = useTestStore();

test('notes of limits that are near do not count as continuations, and keep no compaction from telling the model to go on', async () => {
  const turn = await startTurn(sql);
  for (let call = 1; call <= 8; call += 1) {
    await answer(sql, turn, call, { calls: 1 });
    await finishToolCall(sql, turn, call, 0, text(prose(8_000, call)));
  }
  await appendNote(sql, { ...text('Go on.'), turn, slot: 'continuation', key: 'continuation:of-a-compaction' });
  const limits = { turn: { steps: 10, toolCalls: 10 }, conversation: {}, noteAt: 0.5 };
  await sql`update turns set limits = ${JSON.stringify(limits)}::text::json where id = ${turn.turnId}`;
  const input = { turn, callNumber: 9, forced: 'overflow' } as const;
  const result = await compactContext(activityDependencies(sql), input, execution());
  if (result.kind !== 'planned') throw new Error(`not planned: ${result.kind}`);
  expect(await readShownNotes(sql, turn.conversationId, 'continuation')).toHaveLength(3);
  expect((await getCompaction(sql, result.planned.compactionId)).plan.continuation).toBe(true);
});
