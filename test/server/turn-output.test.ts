import { expect, test } from 'vitest';
import { TurnOutput } from '../../src/server/responses/output.ts';
import { deviationsIn } from './open-responses.ts';

const RESPONSE = {
  conversationId: '01981f3c-0000-7000-8000-0000000000c1',
  messageId: '01981f3c-0000-7000-8000-0000000000c2',
};
const ANSWER = { kind: 'assistant', callNumber: 1, callIndex: null, isError: false } as const;

test('a stored answer that is not what was written live closes that item and begins another', () => {
  const output = new TurnOutput(RESPONSE);
  const live = { callNumber: 1, kind: 'text' } as const;
  const events = [
    ...output.live({ ...live, attempt: 1, offset: 0, text: 'her' }),
    // A piece was lost: what follows it waits for the stored answer.
    ...output.live({ ...live, attempt: 1, offset: 5, text: ' flies' }),
    // Later than the attempt that replaced its own.
    ...output.live({ ...live, attempt: 2, offset: 0, text: 'cra' }),
    ...output.live({ ...live, attempt: 1, offset: 3, text: 'on' }),
    ...output.stored({ ...ANSWER, content: [{ type: 'text', text: 'stork' }] }),
  ];
  const ended = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
  expect(ended).toMatchObject([
    { status: 'incomplete', content: [{ text: 'her' }] },
    { status: 'incomplete', content: [{ text: 'cra' }] },
    { status: 'completed', content: [{ text: 'stork' }] },
  ]);
  expect(new Set(events.flatMap(({ item_id: id }) => (id === undefined ? [] : [id]))).size).toBe(3);
  expect(output.items).toEqual([ended[2]]);
});

test('thinking and text have the events that Open Responses names', () => {
  const events = new TurnOutput(RESPONSE).stored({
    ...ANSWER,
    content: [
      { type: 'thinking', text: 'hm', provider: 'simulator' },
      { type: 'text', text: 'heron' },
    ],
  });
  expect(deviationsIn(...events.map((event, at) => ({ ...event, sequence_number: at })))).toEqual([]);
  expect(events.map(({ type }) => type)).toEqual([
    'response.output_item.added',
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
  ]);
});

test('a call is an item that its result completes, or the end of the turn leaves incomplete', () => {
  const output = new TurnOutput(RESPONSE);
  const call = (index: number) => ({
    type: 'tool_call' as const,
    index,
    id: `call_${index}`,
    name: 'look',
    arguments: '{}',
  });
  output.stored({ ...ANSWER, content: [call(0), call(1), call(2)] });
  const result = { ...ANSWER, kind: 'tool_result', content: [{ type: 'text' as const, text: 'seen' }] } as const;
  output.stored({ ...result, callIndex: 1 });
  output.stored({ ...result, callIndex: 0, isError: true });
  output.end();
  expect(output.items).toMatchObject([
    { id: expect.stringMatching(/_1\.0$/), status: 'incomplete', output: 'seen' },
    { id: expect.stringMatching(/_1\.1$/), status: 'completed', output: 'seen' },
    { id: expect.stringMatching(/_1\.2$/), status: 'incomplete', output: null },
  ]);
});
