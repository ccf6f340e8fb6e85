import { expect } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import { measureContent, measureText } from '../../src/context/log/measure.ts';
import { sumMeasurements } from '../../src/context/log/measurements.ts';
import type { Measurements } from '../../src/context/log/measurements.ts';
import { toolText } from '../../src/context/view/system-text.ts';
import type { View } from '../../src/context/view/view.ts';
import type { Conversation } from './builders.ts';

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

/**
 * R11, as if every answer had begun with reasoning: after a pass none of it is sent that stood before the pass; what a
 * model says after it keeps its own; the newest answer is as it was, and what else no operation changed too.
 */
export function expectAnswersKept(conversation: Conversation): void {
  const { log, operations } = conversation;
  const marker = log.entries.findLast(({ kind }) => kind === 'compaction')?.sequence ?? 0;
  const original = new Map(
    log.entries.filter(({ kind }) => kind === 'assistant').map((entry) => [entry.callNumber, entry]),
  );
  const newest = log.entries.findLast(({ kind }) => kind === 'assistant');
  const changed = new Set(operations.map(({ entryId }) => entryId));
  const shown = conversation.view({ reasoning: REASONING, changedThroughSequence: marker }).messages;
  for (const message of shown) {
    if (message.role !== 'assistant' || message.callNumber === 0) continue;
    const entry = original.get(message.callNumber);
    if (entry === undefined) throw new Error('an answer that nobody gave');
    if (entry.sequence <= marker) expect(message.content.some(({ type }) => type === 'thinking')).toBe(false);
    if (entry === newest || !changed.has(entry.id)) {
      const begins = entry.sequence <= marker ? [] : [REASONING];
      expect(message.content).toEqual([...begins, ...entry.content]);
    }
  }
}

const REASONING: ContentPart = { type: 'thinking', text: 'Which file is next?', provider: 'anthropic', signature: 's' };
