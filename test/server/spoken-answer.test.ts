import { expect, test } from 'vitest';
import type { OutputItem } from '../../src/server/responses/items.ts';
import { SpokenAnswer } from '../../src/server/responses/spoken-answer.ts';
import { lackingIn } from './open-responses.ts';

const PLACE = {
  conversationId: '01981f3c-0000-7000-8000-0000000000c1',
  turnId: '01981f3c-0000-7000-8000-0000000000c2',
};

test('a stored answer that is not what was written live closes that item and begins another', () => {
  const done: OutputItem[] = [];
  let items = 0;
  const answer = new SpokenAnswer(
    () => items++,
    (_, item) => done.push(item),
  );
  const live = { turnId: PLACE.turnId, callNumber: 1, kind: 'text' } as const;
  const events = [
    ...answer.live(PLACE, { ...live, attempt: 1, offset: 0, text: 'her' }),
    // A piece was lost: what follows it waits for the stored answer.
    ...answer.live(PLACE, { ...live, attempt: 1, offset: 5, text: ' flies' }),
    // Later than the attempt that replaced its own.
    ...answer.live(PLACE, { ...live, attempt: 2, offset: 0, text: 'cra' }),
    ...answer.live(PLACE, { ...live, attempt: 1, offset: 3, text: 'on' }),
    ...answer.stored(PLACE, { callNumber: 1, content: [{ type: 'text', text: 'stork' }] }),
  ];
  const ended = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
  expect(ended).toMatchObject([
    { status: 'incomplete', content: [{ text: 'her' }] },
    { status: 'incomplete', content: [{ text: 'cra' }] },
    { status: 'completed', content: [{ text: 'stork' }] },
  ]);
  expect(new Set(events.flatMap(({ item_id: id }) => (id === undefined ? [] : [id]))).size).toBe(3);
  expect(done).toEqual([ended[2]]);
});

test('thinking and text have the events that Open Responses names', () => {
  let items = 0;
  const answer = new SpokenAnswer(
    () => items++,
    () => undefined,
  );
  const events = answer.stored(PLACE, {
    callNumber: 1,
    content: [
      { type: 'thinking', text: 'hm', provider: 'simulator' },
      { type: 'text', text: 'heron' },
    ],
  });
  expect(lackingIn(events)).toEqual([]);
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
