import { expect, test } from 'vitest';
import type { ModelAnswer, ModelRequest } from '../../src/models/model-client.ts';
import { anthropicRequest } from '../../src/models/protocols/anthropic/request.ts';
import { chatDialect } from '../../src/models/protocols/chat/dialect.ts';
import { chatRequest } from '../../src/models/protocols/chat/request.ts';
import { responsesRequest } from '../../src/models/protocols/responses/request.ts';
import { answerInForm } from '../../src/models/structured-output.ts';
import { call, requestOf, text, user, viewOf } from '../support/model-builders.ts';

const FORM = { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] };
const REQUEST = requestOf(viewOf([user('hi')]), { options: { output: FORM } });
const CLOSED = { ...FORM, additionalProperties: false };

test('each protocol asks for the form in its own words', () => {
  expect(anthropicRequest(REQUEST, { provider: 'p', thinking: true })).toMatchObject({
    output_config: { format: { type: 'json_schema', schema: CLOSED } },
  });
  const dialect = chatDialect('https://api.openai.com/v1');
  expect(chatRequest(REQUEST, { provider: 'p', dialect, thinking: true })).toMatchObject({
    response_format: { type: 'json_schema', json_schema: { strict: true, schema: CLOSED } },
  });
  expect(responsesRequest(REQUEST, { provider: 'p', thinking: true })).toMatchObject({
    text: { format: { type: 'json_schema', strict: true, schema: CLOSED } },
  });
});

async function withTool(content: ModelAnswer['content']): Promise<{ answer: ModelAnswer; sent: ModelRequest }> {
  let sent = REQUEST;
  const answer = await answerInForm(REQUEST, false, (request) => {
    sent = request;
    return Promise.resolve({ content, stopReason: 'tool_calls' });
  });
  return { answer, sent };
}

test('a server without forms gets a tool, whose call is the answer', async () => {
  const final = call('f', 0, 'final_answer', '{"answer":1}');
  const { answer, sent } = await withTool([text('Done:'), final]);
  expect(sent.view.tools.at(-1)).toMatchObject({ name: 'final_answer', inputSchema: FORM });
  expect(sent.options).toEqual({});
  expect(answer).toEqual({ content: [text('{"answer":1}')], stopReason: 'end' });
});

test('a final answer beside other calls comes too early', async () => {
  const final = call('f', 0, 'final_answer', '{"answer":1}');
  const { answer } = await withTool([final, call('r', 1)]);
  expect(answer).toEqual({ content: [call('r', 0)], stopReason: 'tool_calls' });
});
