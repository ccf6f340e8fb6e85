import { afterEach, expect, test } from 'vitest';
import type { SentMessage } from '../../src/client/types.ts';
import { readCosts } from '../../src/store/conversations/costs.ts';
import { verify } from '../../src/verify/verify.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';

const harness = useWorkingHarness();
afterEach(() => harness.clearFaults());

/** A conversation of two turns, and the answer of the first: a place to fork at with something to summarize behind it. */
async function twoTurns(): Promise<{ conversationId: string; entryId: string }> {
  const { conversationId } = await harness.runTask('Say The first answer.');
  const { items: entries } = await harness.client.log.entries({ conversationId });
  await harness.runTask('Say The second answer.', { conversationId });
  return { conversationId, entryId: entries.find(({ kind }) => kind === 'assistant')?.entryId ?? '' };
}

async function outcomeOf(sent: SentMessage): Promise<string | null> {
  return (await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 60_000 })).outcome;
}

async function events(conversationId: string): Promise<readonly string[]> {
  const rows = await harness.database<{ kind: string }[]>`
    select kind from events where conversation_id = ${conversationId} order by number`;
  return rows.map(({ kind }) => kind);
}

/** The request that was cut off counts as paid, for what was estimated, in the turn, its conversation and the costs. */
async function expectPaidOnce(conversationId: string): Promise<void> {
  const { database } = harness;
  const [stopped] = await database<{ id: string; calls: number; tokens: string; input: string }[]>`
    select t.id, count(*)::int as calls, sum(m.input_tokens) as tokens, t.input_tokens as input
    from turns t join model_attempts m on m.turn_id = t.id and m.purpose = 'branch_summary' and m.failure_kind = 'lost'
    where t.conversation_id = ${conversationId} and t.outcome = 'stopped' group by t.id`;
  expect(stopped).toMatchObject({ calls: 1, tokens: stopped?.input });
  expect(Number(stopped?.tokens)).toBeGreaterThan(10);
  const { invariants, repeatedCalls } = await verify(database, { conversationId });
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  expect(repeatedCalls).toEqual([]);
  const costs = await readCosts(database, { by: 'turn', since: null, conversationId });
  const [sums] = await database<
    { input: string }[]
  >`select input_tokens as input from conversations where id = ${conversationId}`;
  expect(costs.reduce((sum, { input }) => sum + input, 0)).toBe(Number(sums?.input));
}

test('a stop while a branch is summarized ends the change of branch with what was sent behind it, and the next message is answered where it was', async () => {
  const { conversationId, entryId } = await twoTurns();
  const before = await harness.requests();
  await harness.fault({ kind: 'hang', times: null, match: { purpose: 'summary' } });
  const forked = await harness.client.branches.fork({ conversationId, entryId });
  await expect.poll(async () => (await harness.asked()).summary, { timeout: 15_000 }).toBe(before.summary + 1);
  const sent = await harness.client.conversation.send({ conversationId, content: 'Say I am on the new branch.' });
  await harness.client.conversation.stop({ conversationId });
  expect([await outcomeOf(forked), await outcomeOf(sent)]).toEqual(['stopped', 'stopped']);
  await expectPaidOnce(conversationId);
  const turn = await harness.runTask('Say I am still here.', { conversationId });
  expect(turn.outcome).toBe('completed');
  const { requests, summary } = await harness.requests();
  expect(summary).toBe(before.summary + 1);
  expect(JSON.stringify(requests.slice(before.total))).not.toContain('on the new branch');
  expect(await events(conversationId)).toContain('branch_refused');
  expect(await harness.client.branches.list({ conversationId })).toHaveLength(1);
});
