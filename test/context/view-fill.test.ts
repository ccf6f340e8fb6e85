import { expect, test } from 'vitest';
import { fillByKind } from '../../src/context/view/view-fill.ts';
import type { View } from '../../src/context/view/view.ts';

const text = (size: number) => [{ type: 'text' as const, text: 'x'.repeat(size) }];

test('the tokens of a request are shared out over the kinds of its content', () => {
  const view: View = {
    system: 'x'.repeat(98),
    tools: [],
    messages: [
      { role: 'user', origin: 'summary', content: text(200) },
      { role: 'user', origin: 'user', content: [{ type: 'image', mediaType: '', data: '', width: 140, height: 140 }] },
      { role: 'assistant', turnId: 't', callNumber: 1, content: text(300) },
      { role: 'tool_results', results: [{ id: 'c', name: 'n', isError: false, content: text(250) }] },
      { role: 'user', origin: 'note', content: text(50) },
    ],
  };
  expect(fillByKind(view, 500)).toEqual({
    fixed: 50,
    summary: 100,
    userMessages: 50,
    assistantMessages: 150,
    toolResults: 125,
    notes: 25,
  });
  expect(fillByKind({ system: '', tools: [], messages: [] }, 0)).toMatchObject({ fixed: 0, summary: 0 });
});
