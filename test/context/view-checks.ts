import { expect } from 'vitest';
import { measureContent, measureText } from '../../src/context/measure.ts';
import { sumMeasurements } from '../../src/context/measurement-arithmetic.ts';
import type { Measurements } from '../../src/context/measurements.ts';
import { toolText } from '../../src/context/system-text.ts';
import type { View } from '../../src/context/view.ts';

/** R10: each tool call is followed at once by its result, in call order, and no result stands alone. */
export function expectPaired(view: View): void {
  for (const [index, message] of view.messages.entries()) {
    const before = view.messages[index - 1];
    const after = view.messages[index + 1];
    if (message.role === 'tool_results') {
      expect(before?.role).toBe('assistant');
      expect(message.results.length).toBeGreaterThan(0);
    }
    if (message.role !== 'assistant') continue;
    const calls = message.content.filter((part) => part.type === 'tool_call');
    const answered = after?.role === 'tool_results' ? after.results : [];
    expect(answered.map(({ id, name }) => ({ id, name }))).toEqual(calls.map(({ id, name }) => ({ id, name })));
  }
}

/** The view counted from its own text, independent of what planning believes. */
export function measuredFromText(view: View): Measurements {
  const system = { ...measureText(view.system), frames: 1 };
  const tools = view.tools.map((tool) => ({ ...measureText(toolText(tool)), frames: 2 }));
  const messages = view.messages.flatMap((message) =>
    message.role === 'tool_results'
      ? message.results.map((result) => measureContent(result.content))
      : [measureContent(message.content)],
  );
  return sumMeasurements([system, ...tools, ...messages]);
}
