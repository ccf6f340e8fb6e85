import { createOpenResponses } from '@ai-sdk/open-responses';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INCLUDE_SUMMARIES } from '../../src/server/responses/request.ts';
import { waitUntil } from '../support/wait-until.ts';
import { deviationsIn } from './open-responses.ts';
import { startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

const AGENT = {
  tools: ['write_file', 'run_command'],
  allowCommands: true,
  approvals: { rules: ['write_file'] },
  policy: { keep: { tail: { tokens: 50 } } },
};

let harness: ServerHarness;
let openai: OpenAI;
let model: ReturnType<ReturnType<typeof createOpenResponses>>;

beforeAll(async () => {
  harness = await startServerHarness({ agent: AGENT });
  const { url } = harness.server;
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  model = createOpenResponses({ name: 'holdfast', url: `${url}/v1/responses` })('default');
});
afterAll(async () => harness.stop());

async function reached({ id }: { readonly id: string }, status: string): Promise<void> {
  await waitUntil(`it is ${status}`, async () => (await openai.responses.retrieve(id)).status === status);
}

test('without a worker a response can be cancelled, and a compaction sends the head of its answer', async () => {
  const response = await openai.responses.create({ model: 'default', input: 'Say crane', background: true });
  expect(await openai.responses.cancel(response.id)).toMatchObject({ status: 'queued' });
  const { conversation } = await openai.responses.create({ model: 'default', input: 'Say heron', background: true });
  const compaction = await fetch(`${harness.server.url}/v1/responses/compact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'default', conversation }),
  });
  await harness.startWorker();
  await reached(response, 'cancelled');
  expect(await compaction.json()).toMatchObject({ object: 'response.compaction', output: [] });
});

test('a client that gives up on silence and asks again gets its answer, of one turn', async () => {
  const impatient = new OpenAI({ baseURL: `${harness.server.url}/v1`, apiKey: 'none', timeout: 1_000, maxRetries: 20 });
  const before = (await harness.client.conversation.list({ limit: 100 })).items.length;
  await harness.fault({ kind: 'delay', milliseconds: 3_000, times: 1 });
  const response = await impatient.responses.create({ model: 'default', input: 'Say egret' });
  expect(response.output_text).toBe('egret');
  expect((await harness.client.conversation.list({ limit: 100 })).items).toHaveLength(before + 1);
});

test('the openai SDK starts, reads and continues responses, with usage and metadata', async () => {
  const first = await openai.responses.create({
    model: 'default',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Say heron' }] }],
    metadata: { ticket: '7' },
    truncation: 'disabled',
  });
  expect(first).toMatchObject({ status: 'completed', output_text: 'heron', metadata: { ticket: '7' } });
  expect(first.usage?.input_tokens).toBeGreaterThan(0);
  const second = await openai.responses.create({
    model: 'default',
    input: 'Say crane',
    previous_response_id: first.id,
  });
  expect(second).toMatchObject({ output_text: 'crane', conversation: first.conversation });
  const conversation = first.conversation?.id ?? '';
  const third = await openai.responses.create({ model: 'default', input: 'Say stork', conversation });
  expect(third.output_text).toBe('stork');
  expect(await openai.responses.retrieve(second.id)).toMatchObject({ output: second.output, usage: second.usage });
  const { items } = await harness.client.log.entries({ conversationId: conversation });
  expect(items.filter(({ kind }) => kind === 'user')).toHaveLength(3);
  const late = openai.responses.create({ model: 'default', input: 'Say no', previous_response_id: first.id });
  await expect(late).rejects.toMatchObject({ status: 400, code: 'invalid_argument' });
  const { id, ...nothing } = await openai.responses.compact({ model: 'default', previous_response_id: third.id });
  expect(nothing).toMatchObject({ output: [], usage: { total_tokens: 0 } });
  const stored = await openai.responses.retrieve(id);
  expect([stored, deviationsIn(stored)]).toMatchObject([{ status: 'completed', output: [], metadata: null }, []]);
  // An agent of a running worker: the server's own configuration has none.
  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['default']);
});

test('a background response waits for an approval, shows its call, and can be stopped', async () => {
  const input = 'Call write_file with {"path": "a.txt", "content": "x"}\nSay done';
  const { id, status } = await openai.responses.create({ model: 'default', input, background: true });
  expect(['queued', 'in_progress']).toContain(status);
  let waiting = await openai.responses.retrieve(id);
  await waitUntil('the call waits', async () => {
    waiting = await openai.responses.retrieve(id);
    return waiting.output.length > 0;
  });
  const conversationId = waiting.conversation?.id ?? '';
  expect(waiting.output).toMatchObject([{ type: 'holdfast:decision_request', call: '1.1.0', name: 'write_file' }]);
  const next = { model: 'default', input: 'Say next', conversation: conversationId, background: true } as const;
  expect(await openai.responses.create(next)).toMatchObject({ status: 'queued', output: [] });
  await harness.call('POST', `/v1/conversations/${conversationId}/approve`, { call: '1.1.0' });
  await reached({ id }, 'completed');
  const ended = await openai.responses.retrieve(id);
  expect(deviationsIn(ended)).toEqual([]);
  expect(ended.output).toMatchObject([
    { type: 'message' },
    { type: 'holdfast:tool_call', name: 'write_file', status: 'completed', output: expect.stringContaining('a.txt') },
    { type: 'message', content: [{ text: 'done' }] },
  ]);
  const long = await openai.responses.create({
    model: 'default',
    input: 'Call run_command with {"command": "sleep 300"}',
    background: true,
  });
  await waitUntil('the command runs', async () => {
    const { turn } = await harness.client.conversation.get({ conversationId: long.conversation?.id ?? '' });
    return turn?.steps === 1;
  });
  expect(await openai.responses.cancel(long.id)).toMatchObject({ id: long.id });
  await reached(long, 'cancelled');
  expect(await openai.responses.cancel(id)).toMatchObject({ id, status: 'completed' });
});

test('a response is queued until its own turn runs, and can be cancelled unless another one runs', async () => {
  const background = (input: string, more = {}) =>
    openai.responses.create({ model: 'default', input, background: true, ...more });
  const first = await background('Call run_command with {"command": "sleep 300"}');
  const conversation = first.conversation?.id ?? '';
  await waitUntil('the command runs', async () => {
    const { turn } = await harness.client.conversation.get({ conversationId: conversation });
    return turn?.steps === 1;
  });
  await harness.database`update conversations set created_at = '2001-01-01' where id = ${conversation}`;
  const second = await background('Say heron', { previous_response_id: first.id });
  expect(second.status).toBe('queued');
  expect(second.created_at).toBeGreaterThanOrEqual(first.created_at);
  expect(await openai.responses.retrieve(first.id)).toMatchObject({ status: 'in_progress' });
  const busy = { status: 409, code: 'conversation_busy' };
  await expect(openai.responses.cancel(second.id)).rejects.toMatchObject(busy);
  expect(await openai.responses.cancel(first.id)).toMatchObject({ id: first.id });
  await reached(first, 'cancelled');
  await reached(second, 'completed');
});

test('the AI SDK streams a task with calls, and its history continues the conversation', async () => {
  const messages = [
    { role: 'user' as const, content: 'Call run_command with {"command": "echo hi"}\nSay heron crane' },
  ];
  const streamed = streamText({ model, messages, maxRetries: 0 });
  let text = '';
  for await (const delta of streamed.textStream) text += delta;
  expect(text).toMatch(/heron crane$/);
  expect([await streamed.finishReason, (await streamed.usage).inputTokens]).toEqual(['stop', expect.any(Number)]);
  const history = [...messages, ...(await streamed.response).messages];
  const next = await generateText({
    model,
    messages: [...history, { role: 'user', content: 'Say stork' }],
    maxRetries: 0,
  });
  expect(next.text).toBe('stork');
  const { items } = await harness.client.conversation.list({ limit: 1 });
  const conversationId = items[0]?.conversationId ?? '';
  const said = await harness.client.log.entries({ conversationId });
  expect(said.items.filter(({ kind }) => kind === 'user')).toHaveLength(2);
});

test('an answer comes in the form of text.format', async () => {
  const schema = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
  const format = { type: 'json_schema' as const, name: 'bird', schema };
  const response = await openai.responses.create({
    model: 'default',
    input: 'Say {"word": 7}',
    text: { format },
  });
  // It did not fit, so it was asked for once more.
  expect(response).toMatchObject({ status: 'incomplete', text: { format } });
  expect(response.incomplete_details).toEqual({ reason: 'output_invalid' });
  expect(response.output.filter(({ type }) => type === 'message')).toHaveLength(2);
  const refused = openai.responses.create({
    model: 'default',
    input: 'Say no',
    text: { format: { ...format, schema: { type: 'string' } } },
  });
  await expect(refused).rejects.toMatchObject({ status: 400, param: 'text.format.schema' });
});

test('compactions are items, with summaries where they are asked for', async () => {
  let previous: string | undefined;
  let cached = 0;
  for (const word of ['heron', 'crane', 'stork']) {
    const input = `Say ${`${word} `.repeat(1_000)}`;
    const response = await openai.responses.create({
      model: 'default',
      input,
      ...(previous !== undefined && { previous_response_id: previous }),
    });
    previous = response.id;
    cached = response.usage?.input_tokens_details.cached_tokens ?? 0;
    expect(cached).toBeLessThan(response.usage?.input_tokens ?? 0);
    expect(deviationsIn(response)).toEqual([]);
  }
  // What the responses before it said.
  expect(cached).toBeGreaterThan(1_000);
  const compacted = await openai.responses.compact({ model: 'default', previous_response_id: previous ?? '' });
  const summary = expect.stringContaining('crane');
  expect(compacted).toMatchObject({ object: 'response.compaction', output: [{ type: 'compaction', summary }] });
  expect(deviationsIn(compacted)).toEqual([]);
  const stored = async (query: string) => (await harness.call('GET', `/v1/responses/${compacted.id}${query}`)).body;
  expect((await stored('')).output).toEqual([{ ...compacted.output[0], summary: undefined }]);
  const included = await stored(`?include[]=${INCLUDE_SUMMARIES}`);
  expect(included.output).toMatchObject([{ type: 'compaction', summary }]);
  const [item] = compacted.output;
  if (item?.type !== 'compaction') throw new Error('no compaction');
  const next = await openai.responses.create({
    model: 'default',
    input: [item, { role: 'user', content: 'Say more' }],
  });
  expect(next.output_text).toBe('more');
  expect(next.conversation?.id).toBe(item.id.split('_')[1]);
});

test('what an agent decides itself is refused with a code, in the form that clients read', async () => {
  const refused = async (more: object) => {
    const { status, body } = await harness.call('POST', '/v1/responses', {
      model: 'default',
      input: 'Say no',
      ...more,
    });
    return [status, body.error?.code, body.error?.param];
  };
  const invalid = (param: string) => [400, 'invalid_argument', param];
  const tool = { type: 'function', name: 'weather', parameters: {} };
  expect(await refused({ tools: [tool] })).toEqual(invalid('tools'));
  expect(await refused({ instructions: 'Be brief' })).toEqual(invalid('instructions'));
  expect(await refused({ temperature: 0.1 })).toEqual(invalid('temperature'));
  expect(await refused({ messages: [] })).toEqual(invalid('messages'));
  expect(await refused({ input: [{ role: 'assistant', content: 'I said' }] })).toEqual(invalid('input.0.role'));
  const picture = { type: 'input_image', image_url: 'https://example.com/heron.png' };
  expect(await refused({ input: [{ role: 'user', content: [picture] }] })).toEqual(
    invalid('input.0.content.0.image_url'),
  );
  expect(await refused({ previous_response_id: 'resp_1' })).toEqual(invalid('previous_response_id'));
  const { conversation, user } = await openai.responses.create({ model: 'default', input: 'Say hi', user: 'ada' });
  expect(user).toBe('ada');
  expect(await refused({ conversation, user: 'bob' })).toEqual(invalid('user'));
  expect(await refused({ conversation: harness.taskQueue.slice(-36) })).toEqual([404, 'conversation_not_found', '']);
  await expect(generateText({ model, prompt: 'Say no', temperature: 0.5, maxRetries: 0 })).rejects.toThrow(
    'temperature',
  );
  const chat = openai.chat.completions.create({ model: 'default', messages: [{ role: 'user', content: 'Say no' }] });
  const message = expect.stringContaining('to POST /v1/responses');
  await expect(chat).rejects.toMatchObject({ status: 404, code: 'route_not_found', message });
  const unserved = { status: 404, code: 'route_not_found', message: expect.not.stringContaining('POST') };
  await expect(openai.responses.delete('resp_1')).rejects.toMatchObject(unserved);
});
