import { afterEach, expect, test } from 'vitest';
import type { MessagePart } from '../../src/client/arguments.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';

const RED_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** One red pixel, with more bytes behind it than the text of a request has. */
const PIXEL = Buffer.concat([Buffer.from(RED_PIXEL, 'base64'), Buffer.alloc(60_000)]).toString('base64');
const NOTE = Buffer.from('the heron').toString('base64');
const TASK: readonly MessagePart[] = [
  { type: 'text', text: 'Say hello' },
  { type: 'image', data: PIXEL },
  { type: 'file', mediaType: 'text/plain', name: 'note.txt', data: NOTE },
];

const harness = useWorkingHarness({
  agent: { request: { temperature: 0.5, cacheLifetime: '1h', maximumOutput: 2_000 } },
});
afterEach(() => harness.clearFaults());

async function lastRequest(): Promise<{ total: number; showsPicture: boolean }> {
  const { total, requests } = await harness.requests();
  return { total, showsPicture: JSON.stringify(requests.at(-1)?.body).includes(PIXEL) };
}

test("R23 pictures and files of a message reach the model; refused as too large, they end the turn, and are left out once the user's newest message is another one", async () => {
  const model = 'simulator/sim-32k';
  const before = (await harness.asked()).total;
  const refuse = () =>
    harness.fault({ kind: 'status', status: 413, body: 'Request Entity Too Large', match: { containing: PIXEL } });
  await refuse();
  const { conversationId, messageId } = await harness.client.start(TASK, { model });
  const turn = await harness.client.conversation.outcome({ conversationId, messageId });
  expect(turn).toMatchObject({ outcome: 'context_exhausted', reason: 'media_too_large', compactions: 0 });
  const asked = (await harness.requests()).total;
  expect(asked - before).toBe(1);
  await refuse();
  await harness.runTask('Say it without the picture', { conversationId });
  const { total } = await harness.requests();
  expect(total - asked).toBe(2);
  // What it refused is learned: left out of the next turn's request before it is sent, until it is forgotten.
  const learned = await harness.client.models.listLearnedWindows({ days: 1 });
  expect(learned).toMatchObject([{ model, tokens: null, mediaParts: null, mediaBytes: PIXEL.length - 1 }]);
  const options = { environment: harness.environment, directory: harness.workspace };
  const { stdout } = await runInProcess(['model', 'list', model], options);
  expect(stdout).toContain(
    `at most ${(PIXEL.length - 1).toLocaleString('en')} bytes of images and files, named in an error`,
  );
  await harness.runTask('Say on', { conversationId });
  expect(await lastRequest()).toMatchObject({ total: total + 1, showsPicture: false });
  await harness.database`update model_facts set learned_at = learned_at - interval '31 days'`;
  await harness.clearFaults();
  await harness.runTask('Say forgotten', { conversationId });
  expect(await lastRequest()).toMatchObject({ total: total + 2, showsPicture: true });
  await harness.database`delete from model_facts`;
  const { items: entries } = await harness.client.log.entries({ conversationId });
  const asText = { type: 'text', text: '<attached_file name="note.txt">\nthe heron\n</attached_file>' };
  expect(entries.find(({ kind }) => kind === 'user')?.content).toEqual([
    TASK[0],
    { type: 'image', mediaType: 'image/png', data: PIXEL, width: 1, height: 1 },
    asText,
  ]);
});

test('a conversation goes on with another provider, its pictures and parallel calls included, asked as the agent wants', async () => {
  const task: readonly MessagePart[] = [
    { type: 'text', text: 'Call list_files with {"path": "."} and read_file with {"path": "none.txt"}' },
    ...TASK.slice(1),
  ];
  const { conversationId, messageId } = await harness.client.start(task, { model: 'simulator/sim-32k' });
  expect((await harness.client.conversation.outcome({ conversationId, messageId })).outcome).toBe('completed');
  for (const provider of ['simulator-chat', 'simulator-responses', 'simulator']) {
    await harness.database`update conversations set model = ${`${provider}/sim-32k`} where id = ${conversationId}`;
    const again = 'Call read_file with {"path": "a.txt"} and list_files with {"path": "."}';
    expect(await harness.runTask(again, { conversationId })).toMatchObject({
      outcome: 'completed',
      model: `${provider}/sim-32k`,
    });
    const { requests } = await harness.requests();
    const body = JSON.stringify(requests.at(-1)?.body);
    expect(body.split(PIXEL)).toHaveLength(2);
    expect(body).toContain('the heron');
    expect(body).toContain('"temperature":0.5');
    expect(body).toMatch(/"max_(?:completion_|output_)?tokens":(?:1\d{3}|2000)[,}]/);
    expect(body.includes('"ttl":"1h"')).toBe(provider === 'simulator');
  }
});
