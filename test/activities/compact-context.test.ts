import { pino } from 'pino';
import { expect, test } from 'vitest';
import { commitCompaction } from '../../src/activities/compaction/commit-compaction.ts';
import { compactContext } from '../../src/activities/compaction/compact-context.ts';
import { callModel } from '../../src/activities/model/call-model.ts';
import { WOLFFISH_POLICY } from '../../src/context/policy/presets/wolffish.ts';
import { newId } from '../../src/store/database/ids.ts';
import { appendNote, listEntries } from '../../src/store/log/entries.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import type { SpendingLimits } from '../../src/turn/spending.ts';
import { prose } from '../context/builders.ts';
import { makePlansUseless, plan, turnWithSteps } from '../store/support/compaction-builders.ts';
import {
  headOf,
  text,
  useTestStore,
  send,
  startTurn,
  answer,
  finishToolCall,
} from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
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

test('a compaction of which no form helps is told as such, again and again, and the view stays', async () => {
  const turn = await turnWithSteps(sql);
  const { compactionId } = (await plan(sql, turn)).compaction;
  await makePlansUseless(sql);
  const headEntryId = await headOf(sql, turn.conversationId);
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const left = await commitCompaction(activityDependencies(sql), { turn, compactionId });
    expect(left).toEqual({ kind: 'kept', view: { headEntryId, tokens: 1 } });
  }
});

test('a plan under which something was appended is not committed: no call is made, and the turn checks again', async () => {
  const turn = await turnWithSteps(sql);
  const { compactionId } = (await plan(sql, turn)).compaction;
  const planned = await headOf(sql, turn.conversationId);
  await appendNote(sql, { ...text('Near the limit.'), turn, slot: 'continuation', key: 'limit' });
  const dependencies = activityDependencies(sql);
  const left = await commitCompaction(dependencies, { turn, compactionId });
  expect(left).toEqual({ kind: 'moved' });
  const call = { turn, callNumber: 3, headEntryId: planned, steps: 2 };
  expect(await callModel(dependencies, call, execution())).toEqual({ kind: 'moved' });
  const { compaction, joined } = await plan(sql, turn);
  expect([joined, compaction.headEntryId]).toEqual([false, await headOf(sql, turn.conversationId)]);
});

test('a request to compact that is sent after a check has decided is not declined by it, however late it writes', async () => {
  const turn = await startTurn(sql);
  const { conversationId } = turn;
  await send(sql, { conversationId, kind: 'compact' });
  let late = '';
  const check = await sql.begin(async (open) => {
    // The check reads, decides and is kept from writing.
    await open`select from conversations where id = ${conversationId} for no key update`;
    const input = { turn, callNumber: 1, forced: null } as const;
    const checking = compactContext(activityDependencies(sql), input, execution());
    await waitUntil('the check is to write', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === 1;
    });
    // As its sender would have written it before the check locked the conversation.
    late = newId();
    await sql`
      insert into messages (id, conversation_id, kind, mode, content, measurements)
      values (${late}, ${conversationId}, 'compact', 'steer', '[]', no_measurements())`;
    return { checking };
  });
  expect(await check.checking).toMatchObject({ kind: 'fits', declined: true });
  expect((await listWaitingMessages(sql, conversationId)).map(({ id }) => id)).toEqual([late]);
});

test('within a workflow task a check takes what waits, but leaves the plan to an activity of its own', async () => {
  const turn = await startTurn(sql);
  for (let call = 1; call <= 8; call += 1) {
    await answer(sql, turn, call, { calls: 1 });
    await finishToolCall(sql, turn, call, 0, text(prose(8_000, call)));
  }
  await send(sql, { conversationId: turn.conversationId, mode: 'steer' });
  const input = { turn, callNumber: 9, forced: 'overflow' } as const;
  const check = (withinTask?: true) =>
    compactContext(activityDependencies(sql), { ...input, ...(withinTask && { withinTask }) }, execution());
  expect(await check(true)).toEqual({ kind: 'plan_due', tookMessages: true });
  expect(await listWaitingMessages(sql, turn.conversationId)).toEqual([]);
  const planned = async () => (await sql`select from compactions where turn_id = ${turn.turnId}`).length;
  expect(await planned()).toBe(0);
  expect(await check()).toMatchObject({ kind: 'planned' });
  expect(await planned()).toBe(1);
});

test('W40 each check is one line of the log with both counts and what they are held against; without a pass there is no event', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
  const turn = await startTurn(sql, 'hello', { snapshot: { policy: WOLFFISH_POLICY } });
  const check = (callNumber: number) =>
    compactContext({ ...activityDependencies(sql), logger }, { turn, callNumber, forced: null }, execution());
  const kinds = [(await check(1)).kind];
  await answer(sql, turn, 1, { calls: 1 });
  await finishToolCall(sql, turn, 1, 0, text(prose(150_000)));
  kinds.push((await check(2)).kind);
  expect(kinds).toEqual(['fits', 'planned']);
  const checks = lines.filter(({ msg }) => msg === 'context check');
  expect(checks.map(({ needsCompaction }) => needsCompaction)).toEqual([false, true]);
  for (const line of checks) {
    const { estimate = 0, reported, effective = 0, budget = 0, threshold = 0 } = line as Record<string, number>;
    expect(effective).toBeGreaterThanOrEqual(Math.max(estimate, reported ?? 0) - 1);
    expect(threshold).toBe(Math.round(budget * 0.75));
    expect(line['needsCompaction']).toBe(effective > threshold);
    expect(line).toMatchObject({ force: false, tools: expect.any(Number), systemCharacters: 100 });
    expect(Number(line['messages'])).toBeGreaterThan(0);
  }
  expect(checks[0]).toMatchObject({ reported: null });
  const events = await listEvents(sql, { conversationId: turn.conversationId });
  expect(events.filter(({ kind }) => kind === 'compaction_started')).toHaveLength(1);
});
