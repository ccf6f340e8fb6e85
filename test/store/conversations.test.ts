import { describe, expect, it } from 'vitest';
import { listConversations } from '../../src/store/conversations/conversations.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { makeConversation } from './support/make-conversation.ts';
import { closeToolCall, send, useTestStore, startTurn } from './support/store-builders.ts';

const { sql } = useTestStore();

function end(turn: TurnReference, outcome: 'completed' | 'stopped' = 'completed') {
  return endTurn(sql, { turn, outcome, reason: null, breakdown: null }, closeToolCall);
}

describe('listConversations', () => {
  it('lists those of a tenant', async () => {
    const conversationId = newId();
    await makeConversation(sql, conversationId, { tenant: 'other' });
    expect((await listConversations(sql, { tenant: 'other' })).map(({ id }) => id)).toEqual([conversationId]);
  });

  it('pages from the newest activity on and filters by state', async () => {
    const turns: TurnReference[] = [];
    for (let count = 0; count < 3; count += 1) turns.push(await startTurn(sql));
    const [first] = turns;
    if (first !== undefined) await end(first);
    const expected = [turns[0], turns[2], turns[1]].map((turn) => turn?.conversationId);
    const [newest] = await listConversations(sql, { limit: 1 });
    const rest = await listConversations(sql, { limit: 2, ...(newest !== undefined && { beforeId: newest.id }) });
    expect([newest, ...rest].map((row) => row?.id)).toEqual(expected);
    const working = (await listConversations(sql, { state: 'working', limit: 2 })).map(({ id }) => id);
    expect(working).toEqual(expected.slice(1));
    await send(sql, { conversationId: expected[0] ?? '' });
    const queued = await listConversations(sql, { state: 'queued' });
    expect(queued).toMatchObject([{ id: expected[0], state: 'queued' }]);
    expect(await listConversations(sql, { agent: 'nobody' })).toEqual([]);
  });
});
