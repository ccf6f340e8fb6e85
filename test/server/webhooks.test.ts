import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyWebhook } from '../../src/client/verify-webhook.ts';
import { startWebhooks } from '../../src/server/webhooks.ts';
import { newId } from '../../src/store/database/ids.ts';
import { respond, startHttpServer } from '../support/http-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

let harness: ServerHarness;

beforeAll(async () => {
  harness = await startServerHarness({
    agent: {
      limits: { steps: 4, noteAt: 0.25 },
      approvals: { rules: [{ tool: 'write_file', when: { path: 'asked*' } }] },
    },
  });
  await harness.startWorker();
});
afterAll(async () => harness.stop());

function sendWebhooks(allowPrivate: boolean): ReturnType<typeof startWebhooks> {
  const { database, faults } = harness;
  return startWebhooks({ database, allowPrivate, intervalMilliseconds: 20, log: (error) => faults.push(error) });
}

test('a webhook is told, signed and until it says that it was, of decisions, near limits and ended turns', async () => {
  const { call, database } = harness;
  let isDown = true;
  const receiver = await startHttpServer((_, response) => respond(response, isDown ? 503 : 204, ''));
  const { body: webhook } = await call('POST', '/v1/webhooks', { url: `${receiver.url}/hook` });
  const sending = sendWebhooks(true);
  const { conversationId: id, ...task } = await harness.client.start(
    'Call write_file with {"path":"asked.txt","content":"x"}\nSay done',
  );
  await waitUntil('the decision was told', () => receiver.requests.length === 1);
  await sending.end();
  isDown = false;
  await database`update holdfast.webhook_deliveries set due_at = now()`;
  const again = sendWebhooks(true);
  await call('POST', `/v1/conversations/${id}/approve`);
  await task.result();
  await waitUntil('all was told', async () => {
    const [row] = await database<{ left: number }[]>`select count(*)::int as left from holdfast.webhook_deliveries`;
    return row?.left === 0;
  });
  await again.end();
  await receiver.close();
  const { requests } = receiver;
  for (const { headers, text: body } of requests) {
    expect(verifyWebhook({ secret: webhook.secret, headers, body })).toBe(headers['webhook-id']);
  }
  const told = requests.map(({ body, headers }) => ({ body, id: headers['webhook-id'] }));
  expect(told[0]).toEqual(told[1]);
  expect(new Set(told.map((each) => each.id)).size).toBe(3);
  expect(told[1]?.body).toMatchObject({
    type: 'decision_requested',
    data: { conversationId: id, name: 'write_file', kind: 'approval' },
  });
  // Those that one look finds due are sent at once.
  const later = told.slice(2).map((each) => each.body as { readonly type: string });
  expect(later.toSorted((left, right) => left.type.localeCompare(right.type))).toMatchObject([
    { type: 'limit_near', data: { limit: 'step_limit' } },
    { type: 'turn_ended', data: { outcome: 'completed' } },
  ]);
  expect((await call('DELETE', `/v1/webhooks/${webhook.webhookId}`)).body).toEqual({ value: true });
});

test('a webhook that does not answer keeps no other waiting', async () => {
  const { call, database } = harness;
  const receiver = await startHttpServer(({ path }, response) => {
    if (path === '/fast') respond(response, 204, '');
  });
  const asked = (wanted: string) => receiver.requests.filter(({ path }) => path === wanted).length;
  const { body: slow } = await call('POST', '/v1/webhooks', { url: `${receiver.url}/slow`, events: ['turn_ended'] });
  const { body: fast } = await call('POST', '/v1/webhooks', { url: `${receiver.url}/fast`, events: ['turn_ended'] });
  const queue = (webhookId: string, count: number) => database`
    insert into holdfast.webhook_deliveries (webhook_id, tenant, conversation_id, event, body, due_at)
    select ${webhookId}, 'default', ${newId()}, 'turn_ended', '{}', now() from generate_series(1, ${count}::int)`;
  await queue(slow.webhookId, 30);
  const sending = sendWebhooks(true);
  await waitUntil('the slow one is asked', () => asked('/slow') > 0);
  await queue(fast.webhookId, 30);
  await waitUntil('the fast one was told all', async () => {
    const [row] = await database<{ left: number }[]>`
      select count(*)::int as left from holdfast.webhook_deliveries where webhook_id = ${fast.webhookId}`;
    return row?.left === 0;
  });
  expect(asked('/slow')).toBe(20);
  await receiver.close();
  await sending.end();
  for (const { webhookId } of [slow, fast]) await call('DELETE', `/v1/webhooks/${webhookId}`);
});

test('a webhook never reaches a private network; what is given up is listed, and tried again when asked', async () => {
  const { call, database } = harness;
  const receiver = await startHttpServer((_, response) => respond(response, 204, ''));
  const port = new URL(receiver.url).port;
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
    await call('POST', '/v1/webhooks', { url: `http://${host}:${port}/`, events: ['turn_ended'] });
  }
  const { conversationId: id, ...task } = await harness.client.start('Say private');
  await task.result();
  const sending = sendWebhooks(false);
  const failed = async () => (await call('GET', '/v1/webhook-failures')).body.items;
  await waitUntil('all were given up', async () => (await failed()).length === 3);
  await sending.end();
  expect(receiver.requests).toEqual([]);
  const [first, ...others] = await failed();
  for (const each of [first, ...others]) {
    expect(each).toMatchObject({ conversationId: id, attempts: 1, failure: 'private_address' });
  }
  const path = `/v1/webhook-failures/${first.deliveryId}/retry`;
  expect([(await call('POST', path)).body, (await call('POST', path)).body]).toEqual([
    { value: true },
    { value: false },
  ]);
  expect(await failed()).toHaveLength(2);
  await call('DELETE', `/v1/conversations/${id}`);
  expect(await failed()).toEqual([]);
  await receiver.close();
  await database`delete from holdfast.webhooks`;
});
