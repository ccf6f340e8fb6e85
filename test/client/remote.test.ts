import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { HoldfastClient } from '../../src/client/holdfast.ts';
import { newId } from '../../src/store/database/ids.ts';
import { respond, startHttpServer } from '../support/http-server.ts';

type Answer = (response: ServerResponse) => void;

const TOO_MANY = { code: 'too_many_requests', detail: 'The key has made too many requests.', next: 'Wait.' };

/** What a client hears from a limit, a server that starts, a proxy without one, and a broken connection. */
const PASSING: readonly Answer[] = [
  (response) => respond(response, 429, TOO_MANY, { 'retry-after': '1' }),
  (response) => respond(response, 503, { code: 'database_busy', detail: 'Holdfast cannot serve this now.', next: '' }),
  (response) => respond(response, 502, '<h1>Bad Gateway</h1>'),
  (response) => respond(response, 504, ''),
  (response) => void response.destroy(),
];

const conversationId = newId();

/** A client of a server that gives one answer after the other, and when each request came. */
async function clientOf(answers: readonly Answer[]) {
  const times: number[] = [];
  const server = await startHttpServer((_, response, position) => {
    times.push(performance.now());
    answers[position]?.(response);
  });
  onTestFinished(() => server.close());
  const client = await connect({ url: server.url });
  onTestFinished(() => client.close());
  return { client, times };
}

const WAITS: Readonly<Record<string, (client: HoldfastClient, signal?: AbortSignal) => Promise<unknown>>> = {
  outcome: (client, signal) =>
    client.conversation.outcome({ conversationId, messageId: 'm', ...(signal && { signal }) }),
  async watch(client, signal) {
    for await (const update of client.conversation.watch({ conversationId, ...(signal && { signal }) })) return update;
    return 'ended';
  },
};

test('waits go on while the server cannot serve, no sooner than it asks for', async () => {
  const gone = { code: 'conversation_not_found', detail: 'there is none', next: '' };
  const waits = Object.values(WAITS).map(async (wait) => {
    const { client, times } = await clientOf([...PASSING, (response) => respond(response, 404, gone)]);
    await expect(wait(client)).rejects.toMatchObject({ code: 'conversation_not_found' });
    expect(times).toHaveLength(PASSING.length + 1);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
  });
  await Promise.all(waits);
});

test('a wait on a server that cannot serve ends with its own time, signal and client; other calls fail at once', async () => {
  const hour: Answer = (response) => respond(response, 429, TOO_MANY, { 'retry-after': '3600' });
  const { client, times } = await clientOf(Array.from({ length: 5 }, () => hour));
  const refused = { code: 'server_refused', serverCode: 'too_many_requests', retryAfterSeconds: 3_600 };
  const asked = { conversationId, messageId: 'm', timeoutMilliseconds: 50 };
  await expect(client.conversation.outcome(asked)).rejects.toMatchObject(refused);
  await expect(client.conversation.get({ conversationId })).rejects.toMatchObject(refused);
  const leaving = new AbortController();
  const left = Object.values(WAITS).map(async (wait) => wait(client, leaving.signal));
  const closed = WAITS['watch']?.(client);
  await expect.poll(() => times.length).toBe(5);
  leaving.abort(new Error('left'));
  expect(await Promise.allSettled(left)).toMatchObject([{ reason: { message: 'left' } }, { value: 'ended' }]);
  await client.close();
  await expect(closed).rejects.toMatchObject({ code: 'client_closed' });
});
