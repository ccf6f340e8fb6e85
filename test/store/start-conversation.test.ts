import { describe, expect, it } from 'vitest';
import { listConversations, startConversation, getConversation } from '../../src/store/conversations/conversations.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { newId } from '../../src/store/database/ids.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { makeConversation } from './support/make-conversation.ts';
import {
  closeToolCall,
  send,
  useTestStore,
  startTurn,
  text,
  begin,
  continueConversation,
  said,
} from './support/store-builders.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import { getTurn, readTurnForMessage } from '../../src/store/turns/turns.ts';
import { countWaiting } from './support/waiting-rows.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';

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

const settings = { model: 'sim/sim-8k', preset: null, workspace: '/data', user: 'ada' };
const start = { tenant: 'default', taskQueue: 'agent-turn', agent: 'reader', settings, ...text('hello') };

it('makes a conversation with its settings and its first message', async () => {
  const { conversationId, messageId } = await startConversation(sql, start);
  const [row] =
    await sql`select agent, model, preset, workspace, user_name as "user" from conversations where id = ${conversationId}`;
  expect(row).toEqual({ agent: 'reader', ...settings });
  expect((await listWaitingMessages(sql, conversationId)).map(({ id }) => id)).toEqual([messageId]);
});

it('makes one conversation for a key, however often and from however many clients it is started', async () => {
  const startKey = newId();
  const starts = await Promise.all(Array.from({ length: 20 }, () => startConversation(sql, { ...start, startKey })));
  expect(new Set(starts.map(({ conversationId }) => conversationId)).size).toBe(1);
  expect(starts.filter(({ state }) => state === 'accepted')).toHaveLength(1);
  const other = await startConversation(sql, { ...start, startKey, tenant: 'other' });
  expect(other).toMatchObject({
    state: 'accepted',
    conversationId: expect.not.stringContaining(starts[0]?.conversationId ?? ''),
  });
});

describe('beginTurn', () => {
  it("leaves another run's turn alone unless its own run is the newest, and asks again about each turn that it finds open", async () => {
    const live = await startTurn(sql);
    const { conversationId } = live;
    await send(sql, { conversationId });
    const refused = begin(sql, conversationId, { isNewestRun: () => Promise.resolve(false) });
    await expect(refused).rejects.toMatchObject({ code: 'run_replaced', permanent: true });
    expect(await countWaiting(sql, live.conversationId)).toMatchObject({ waiting: 1 });
    expect(await getTurn(sql, live.turnId)).toMatchObject({ outcome: null });

    const answers = [true, false];
    let successor: TurnReference | null = null;
    const overtaken = begin(sql, conversationId, {
      isNewestRun: async () => {
        // While Temporal is asked, the run is replaced, and its successor takes the conversation.
        successor ??= await continueConversation(sql, conversationId);
        return answers.shift() ?? false;
      },
    });
    await expect(overtaken).rejects.toMatchObject({ code: 'run_replaced' });
    expect(answers).toEqual([]);
    expect(await getConversation(sql, conversationId)).toMatchObject({ state: 'working' });
    expect(await said(sql, conversationId)).toEqual(['user hello', 'user hello']);
  });
});

describe('takeMessages', () => {
  it('appends what steers in order of arrival, once, and leaves what is queued', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    for (const word of ['one', 'two']) await send(sql, { conversationId, ...text(word) });
    await send(sql, { conversationId, mode: 'queue', ...text('later') });
    expect(await takeMessages(sql, turn)).toEqual({ messages: 2 });
    expect(await takeMessages(sql, turn)).toEqual({ messages: 0 });
    const entries = await listEntries(sql, { conversationId });
    expect(entries.map((entry) => entry.content)).toEqual(['hello', 'one', 'two'].map((word) => text(word).content));
    expect(await countWaiting(sql, turn.conversationId)).toMatchObject({ waiting: 1, steering: 0 });
  });

  it('takes each of 300 messages from 30 clients once and in the order of its client, while two takers race', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    const sending = new AbortController();
    const clients = Array.from({ length: 30 }, async (_, client) => {
      for (let number = 0; number < 10; number += 1) {
        await send(sql, { conversationId, ...text(`${client}:${number}`) });
      }
    });
    const taker = async (): Promise<void> => {
      while (!sending.signal.aborted) await takeMessages(sql, turn);
    };
    const takers = [taker(), taker()];
    await Promise.all(clients);
    sending.abort();
    await Promise.all(takers);
    await takeMessages(sql, turn);
    const entries = await listEntries(sql, { conversationId, limit: 1_000 });
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
    const said = entries
      .slice(1)
      .flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
    expect(new Set(said).size).toBe(300);
    expect(said).toHaveLength(300);
    for (let client = 0; client < 30; client += 1) {
      const own = said.filter((word) => word.startsWith(`${client}:`));
      expect(own).toEqual(Array.from({ length: 10 }, (_, number) => `${client}:${number}`));
    }
  });

  it('tells of a message which turn took it', async () => {
    const turn = await startTurn(sql);
    const messageId = await send(sql, { conversationId: turn.conversationId });
    const { conversationId } = turn;
    expect(await readTurnForMessage(sql, { conversationId, messageId })).toEqual({ state: 'waiting' });
    await takeMessages(sql, turn);
    expect(await readTurnForMessage(sql, { conversationId, messageId })).toMatchObject({
      state: 'taken',
      turn: { turn },
    });
    expect(await readTurnForMessage(sql, { conversationId, messageId: 'unknown' })).toBeNull();
    expect(await readTurnForMessage(sql, { conversationId: newId(), messageId })).toBeNull();
  });
});
