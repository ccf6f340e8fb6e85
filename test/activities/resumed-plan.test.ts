import { expect, test } from 'vitest';
import { callModel } from '../../src/activities/model/call-model.ts';
import { commitCompaction } from '../../src/activities/compaction/commit-compaction.ts';
import { compactContext } from '../../src/activities/compaction/compact-context.ts';
import { appendNote, listEntries } from '../../src/store/log/entries.ts';
import type { SpendingLimits } from '../../src/turn/spending.ts';
import { plan, turnWithSteps } from '../store/support/compaction-builders.ts';
import { headOf, text, useTestStore } from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

const { sql } = useTestStore();

test.each<[string, SpendingLimits]>([
  ['is reached', { turn: { steps: 2 }, conversation: {}, noteAt: 0.8 }],
  ['is near', { turn: { steps: 3 }, conversation: {}, noteAt: 0.5 }],
])(
  'a plan that is under way is carried on when a limit %s meanwhile, and nothing is appended under it',
  async (_, limits) => {
    const turn = await turnWithSteps(sql);
    const head = await headOf(sql, turn.conversationId);
    const before = await listEntries(sql, { conversationId: turn.conversationId });
    const fresh = await turnWithSteps(sql);
    const { compaction } = await plan(sql, turn);
    await sql`
      update turns set limits = ${JSON.stringify(limits)}::text::json where id in (${turn.turnId}, ${fresh.turnId})`;
    const check = { callNumber: 3, forced: null };
    const result = await compactContext(activityDependencies(sql), { turn, ...check }, execution());
    expect(result).toMatchObject({ kind: 'planned', planned: { compactionId: compaction.compactionId } });
    expect(await headOf(sql, turn.conversationId)).toBe(head);
    expect(await listEntries(sql, { conversationId: turn.conversationId })).toHaveLength(before.length);
    // Without a plan the same limit has its effect.
    const other = await compactContext(activityDependencies(sql), { turn: fresh, ...check }, execution());
    if (other.kind === 'limit') {
      expect(other.reason).toBe('step_limit');
      return;
    }
    expect(await listEntries(sql, { conversationId: fresh.conversationId })).toHaveLength(before.length + 1);
    expect(other).toMatchObject({ kind: 'fits', view: { headEntryId: await headOf(sql, fresh.conversationId) } });
  },
);

test('a plan under which something was appended is not carried on', async () => {
  const turn = await turnWithSteps(sql);
  await plan(sql, turn);
  await appendNote(sql, { ...text('Near the limit.'), turn, slot: 'continuation', key: 'limit' });
  const result = await compactContext(activityDependencies(sql), { turn, callNumber: 3, forced: null }, execution());
  expect(result).toMatchObject({ kind: 'fits', view: { headEntryId: await headOf(sql, turn.conversationId) } });
});

test('a plan under which something was appended is not committed: no call is made, and the turn checks again', async () => {
  const turn = await turnWithSteps(sql);
  const { compactionId } = (await plan(sql, turn)).compaction;
  const planned = await headOf(sql, turn.conversationId);
  await appendNote(sql, { ...text('Near the limit.'), turn, slot: 'continuation', key: 'limit' });
  const dependencies = activityDependencies(sql);
  const left = await commitCompaction(dependencies, { turn, compactionId }, execution());
  expect(left).toEqual({ kind: 'moved' });
  const call = { turn, callNumber: 3, headEntryId: planned, steps: 2 };
  expect(await callModel(dependencies, call, execution())).toEqual({ kind: 'moved' });
  const { compaction, joined } = await plan(sql, turn);
  expect([joined, compaction.headEntryId]).toEqual([false, await headOf(sql, turn.conversationId)]);
});
