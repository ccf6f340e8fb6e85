import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { storedOnce } from '../../src/client/sending/stored-once.ts';
import { newId } from '../../src/store/database/ids.ts';
import { acceptMessage } from '../../src/store/messages/messages.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import { requestDecisions } from '../../src/store/messages/decisions.ts';
import { answer, openTestStore, send, startTurn, text } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

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

test('an approval whose commit was not answered holds once, and is told as decided', async () => {
  const turn = await startTurn(store.sql);
  await answer(store.sql, turn, 1, { calls: 1 });
  const wanted = [{ callIndex: 0, kind: 'approval', tool: 'read_file', rules: ['read_file'] } as const];
  await requestDecisions(store.sql, { turn, callNumber: 1, agent: 'reader', expiresAfterSeconds: 60, wanted });
  const proxy = await startTcpProxy(store.url);
  onTestFinished(async () => proxy.close());
  const client = await connect({
    databaseUrl: proxy.url(store.url),
    temporal: { address: '127.0.0.1:1', namespace: 'default' },
  });
  onTestFinished(async () => client.close());
  proxy.loseAnswerTo('commit');
  const decided = await client.decisions.approve({ conversationId: turn.conversationId });
  expect(proxy.lostAnswers()).toBe(1);
  expect(decided).toMatchObject({ duplicate: false, decided: 1 });
  const again = client.decisions.approve({ conversationId: turn.conversationId });
  await expect(again).rejects.toMatchObject({ code: 'decision_not_found' });
});
