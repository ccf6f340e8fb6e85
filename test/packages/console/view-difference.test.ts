import { expect, test } from 'vitest';
import { differenceOf } from '../../../packages/console/src/window/view-difference.ts';
import type { ViewMessage } from '../../../packages/console/src/window/view-difference.ts';

const said = (text: string): ViewMessage => ({ role: 'user', origin: 'user', content: [{ type: 'text', text }] });
const view = (...texts: string[]) => ({ system: 'Be brief.', tools: [], messages: texts.map(said) });

test('messages of two calls are compared in order, what a compaction took out before what it put there', () => {
  const { messages, isSystemChanged } = differenceOf(
    view('task', 'one', 'two'),
    view('task', 'summary', 'two', 'three'),
  );
  expect(messages).toEqual([
    { change: 'same', message: said('task') },
    { change: 'removed', message: said('one') },
    { change: 'added', message: said('summary') },
    { change: 'same', message: said('two') },
    { change: 'added', message: said('three') },
  ]);
  expect(isSystemChanged).toBe(false);
});
