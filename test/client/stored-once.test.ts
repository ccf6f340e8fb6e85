import { afterAll, beforeAll, expect, test } from 'vitest';
import { storedOnce } from '../../src/client/stored-once.ts';
import { newId } from '../../src/store/database/ids.ts';
import { acceptMessage, listWaitingMessages } from '../../src/store/messages/messages.ts';
import { openTestStore, send, text } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';

let store: TestStore;
const conversationId = newId();

beforeAll(async () => {
  store = await openTestStore();
  await send(store.sql, { conversationId, mode: 'queue', ...text('first') });
});
afterAll(async () => store.close());

const lost = (code: string): Error => Object.assign(new Error('it is lost'), { code });

test.each(['CONNECTION_CLOSED', '25P03'])(
  'a message whose commit was not answered (%s) is there once, and told as sent',
  async (code) => {
    const message = { conversationId, id: newId(), kind: 'message', mode: 'queue', ...text('second') } as const;
    const before = await listWaitingMessages(store.sql, conversationId);
    let tries = 0;
    const write = async () => {
      tries += 1;
      const accepted = await acceptMessage(store.sql, message);
      if (tries === 1) throw lost(code);
      return accepted;
    };
    expect(await storedOnce(write, (found) => ({ ...found, state: 'accepted' as const }))).toMatchObject({
      state: 'accepted',
    });
    expect(await listWaitingMessages(store.sql, conversationId)).toHaveLength(before.length + 1);
  },
);

test('a Postgres that cannot be reached is not asked again', async () => {
  let tries = 0;
  const write = () => {
    tries += 1;
    return Promise.reject(lost('ECONNREFUSED'));
  };
  await expect(storedOnce(write, () => null)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(tries).toBe(1);
});
