import { expect, test } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import type { ViewMessage } from '../../src/context/view/view.ts';
import { anthropicRequest } from '../../src/models/protocols/anthropic/request.ts';
import { assistant, call, GROUP, PICTURE, requestOf, results, user, viewOf } from '../support/model-builders.ts';

function anthropic(messages: readonly ViewMessage[]) {
  return anthropicRequest(requestOf(viewOf(messages)), { provider: 'anthropic', thinking: true });
}

test('results of one answer are one user message, with what the user says next after them', () => {
  expect(anthropic(GROUP).messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'do it', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'reading' },
        { type: 'tool_use', id: 'toolu_a', name: 'read_file', input: { path: 'a' } },
        { type: 'tool_use', id: 'toolu_b', name: 'read_file', input: { path: 'a' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_a', content: [{ type: 'text', text: 'A' }] },
        { type: 'tool_result', tool_use_id: 'toolu_b', content: [{ type: 'text', text: 'B' }] },
        { type: 'text', text: 'and now?', cache_control: { type: 'ephemeral' } },
      ],
    },
  ]);
});

test('the four cache marks stand on the last tool, the system prompt and the last two user messages', () => {
  const request = anthropic([...GROUP, assistant('done'), user('more')]);
  expect(JSON.stringify(request).match(/cache_control/g)).toHaveLength(4);
  expect(request.tools?.at(-1)).toHaveProperty('cache_control');
  expect(request.system).toEqual([{ type: 'text', text: 'You read files.', cache_control: { type: 'ephemeral' } }]);
  expect(JSON.stringify(request.messages[0])).not.toContain('cache_control');
});

test('what the user said before a summary has the mark of the last tool, since the next compaction leaves it', () => {
  const summary: ViewMessage = { role: 'user', content: [{ type: 'text', text: 'So far …' }], origin: 'summary' };
  const request = anthropic([user('one'), user('two'), summary, ...GROUP.slice(1), assistant('done'), user('more')]);
  const mark = { cache_control: { type: 'ephemeral' } };
  expect(request.messages[0]?.content).toEqual([
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two', ...mark },
    { type: 'text', text: 'So far …' },
  ]);
  expect(JSON.stringify(request).match(/cache_control/g)).toHaveLength(4);
  expect(request.tools?.at(-1)).not.toHaveProperty('cache_control');
  const alone = anthropic([summary, ...GROUP.slice(1), assistant('done'), user('more')]);
  expect(alone.tools?.at(-1)).toHaveProperty('cache_control');
});

test('a request is a byte prefix of the next one but for the marks', () => {
  const marks = /,"cache_control":\{"type":"ephemeral"\}/g;
  const before = JSON.stringify(anthropic(GROUP)).replaceAll(marks, '');
  const after = JSON.stringify(
    anthropicRequest(requestOf(viewOf([...GROUP, assistant('done'), user('more')]), { maximumOutput: 7_000 }), {
      provider: 'anthropic',
      thinking: true,
    }),
  ).replaceAll(marks, '');
  let common = 0;
  while (before[common] === after[common]) common += 1;
  expect(before.length - common).toBeLessThan(25);
});

test('images and PDFs go as blocks, also in results; a failed result says so', () => {
  const pdf: ContentPart = { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data: 'aGk=', pages: 1 };
  const failed = results(['toolu_a', PICTURE, pdf]);
  const messages: ViewMessage[] = [user(PICTURE), assistant(call('toolu_a')), failed];
  if (failed.role === 'tool_results')
    messages[2] = { ...failed, results: failed.results.map((r) => Object.assign({}, r, { isError: true })) };
  expect(anthropic(messages).messages[2]).toMatchObject({
    content: [
      {
        type: 'tool_result',
        is_error: true,
        content: [{ type: 'image', source: { media_type: 'image/png' } }, { type: 'document' }],
      },
    ],
  });
});

test('text files are sent as text, unknown ones are named', () => {
  const note: ContentPart = {
    type: 'file',
    mediaType: 'text/markdown',
    name: 'n.md',
    data: Buffer.from('# hi').toString('base64'),
    pages: 1,
  };
  const zip: ContentPart = { type: 'file', mediaType: 'application/zip', name: 'z.zip', data: 'aGk=', pages: 1 };
  const scan: ContentPart = { type: 'image', mediaType: 'image/tiff', data: 'aGk=', width: 1, height: 1 };
  const sent = JSON.stringify(anthropic([user(note, zip, scan)]).messages);
  expect(sent).toContain('<attached_file name=\\"n.md\\">\\n# hi\\n</attached_file>');
  expect(sent).toContain('z.zip of type application/zip left out');
  expect(sent).toContain('image of type image/tiff left out');
});

test('thinking goes back byte for byte, in order; without proof or from elsewhere it is left out', () => {
  const parts: ContentPart[] = [
    { type: 'thinking', text: 'lone \ud800', provider: 'anthropic', signature: 's' },
    { type: 'thinking', text: '', provider: 'anthropic', encrypted: 'blob' },
    { type: 'thinking', text: 'cut', provider: 'anthropic' },
    { type: 'thinking', text: 'theirs', provider: 'openai', signature: 'x' },
  ];
  const view = [user('a'), assistant(...parts, 'answer'), user('b')];
  expect(anthropic(view).messages[1]?.content).toEqual([
    { type: 'thinking', thinking: 'lone \ud800', signature: 's' },
    { type: 'redacted_thinking', data: 'blob' },
    { type: 'text', text: 'answer' },
  ]);
});
