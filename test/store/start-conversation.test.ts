import { expect, it } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import { startConversation } from '../../src/store/conversations/conversations.ts';
import { text, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

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
