import { afterEach, beforeAll, expect, test } from 'vitest';
import { changePolicy, policyChanges } from '../../src/context/policy/change-policy.ts';
import { COWORK_POLICY } from '../../src/context/policy/presets/cowork.ts';
import { verify } from '../../src/verify/verify.ts';
import { eventsOf, writeLogs } from './presets/scenario.ts';
import { useTurnHarness } from '../support/turn-harness.ts';

/** The conversation of the first test. */
let recovered: string;
const TASK = 'Call read_file with {"path": "log-$index.txt"} 4 times, one by one';

const harness = useTurnHarness({
  presets: [{ ...changePolicy(COWORK_POLICY, policyChanges.parse({ overflowRecoveries: 2 })), name: 'patient' }],
});

beforeAll(async () => {
  await writeLogs(harness, 4, 290);
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());

test('W10 P3 R2 an overflow that the provider reports forces a compaction below the threshold and the call is made again; the next turn has a recovery of its own', async () => {
  await harness.fault({ kind: 'overflow', times: 1, skip: 4, match: { purpose: 'agent' } });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 1, steps: 5 });
  const [summary] = await harness.client.log.summaries({ conversationId: turn.conversationId });
  expect(summary).toMatchObject({ trigger: 'overflow' });
  expect(summary?.tokensAfter).toBeLessThan(summary?.tokensBefore ?? 0);
  recovered = turn.conversationId;
  await harness.fault({ kind: 'overflow', times: 1, match: { purpose: 'agent' } });
  const next = await harness.runTask('Say recovered', { conversationId: turn.conversationId });
  expect(next).toMatchObject({ outcome: 'completed', overflows: 1 });
});

test('W37 the event of a pass says that a reported overflow forced it', async () => {
  const started = await harness.database<{ reason: string; force: boolean }[]>`
    select data ->> 'reason' as reason, (data -> 'force')::boolean as force from events
    where conversation_id = ${recovered} and kind = 'compaction_started' order by number limit 1`;
  expect(started).toEqual([{ reason: 'overflow', force: true }]);
});

test('P27 R2 a second overflow in a turn ends it as context_exhausted with what fills the window, and the conversation goes on', async () => {
  await harness.fault({ kind: 'overflow', times: 2, skip: 4, match: { purpose: 'agent' } });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'context_exhausted', reason: 'second_overflow', overflows: 2, compactions: 1 });
  expect(turn.breakdown?.total).toBeGreaterThan(0);
  const told = (await eventsOf(harness, turn.conversationId)).filter(({ kind }) => kind === 'compaction_exhausted');
  expect(told.map(({ data }) => data)).toEqual([
    expect.objectContaining({ failure: 'second_overflow', recoveries: 1, fixed: turn.breakdown?.fixed }),
  ]);
  expect(turn.explanation).toContain('Send a message to go on');
  const next = await harness.runTask('Say it goes on', { conversationId: turn.conversationId });
  expect(next.outcome).toBe('completed');
});

test('R1 R2 C21 an option of the policy allows more recoveries: each aims lower; after two passes that did not help it ends, told once', async () => {
  await harness.fault({ kind: 'overflow', times: 2, skip: 4, match: { purpose: 'agent' } });
  const run = async () => {
    const sent = await harness.client.start(TASK, { preset: 'patient' });
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
    return { ...turn, conversationId: sent.conversationId };
  };
  const recovered = await run();
  expect(recovered).toMatchObject({ outcome: 'completed', overflows: 2, compactions: 2 });
  const plans = await harness.database<{ accepted: number }[]>`
    select (plan ->> 'acceptedTokens')::int as accepted from compactions
    where conversation_id = ${recovered.conversationId} and status = 'committed' order by number`;
  expect(plans[1]?.accepted).toBeLessThan(plans[0]?.accepted ?? 0);
  await harness.fault({ kind: 'overflow', times: 3, skip: 4, match: { purpose: 'agent' } });
  const given = await run();
  expect(given).toMatchObject({
    outcome: 'context_exhausted',
    reason: 'second_overflow',
    overflows: 3,
    compactions: 2,
  });
  const told = (await eventsOf(harness, given.conversationId)).filter(({ kind }) => kind === 'compaction_exhausted');
  expect(told.map(({ data }) => data)).toEqual([
    expect.objectContaining({ recoveries: 2, fixed: expect.any(Number), toolResults: expect.any(Number) }),
  ]);
  const { invariants } = await verify(harness.database, { conversationId: given.conversationId });
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
});

test('an answer that stopped because the window is full is an overflow, compacted and asked for again; no part of it is kept', async () => {
  await harness.fault({ kind: 'window_full', times: 1, skip: 4, match: { purpose: 'agent' } });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 1, steps: 5 });
  const { items: tries } = await harness.client.log.modelCalls({ conversationId: turn.conversationId });
  expect(tries.filter(({ state }) => state === 'failed')).toMatchObject([{ callNumber: 5 }]);
});
