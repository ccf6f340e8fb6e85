import { describe, expect, test } from 'vitest';
import type { LiveTextUpdate } from '../../../../src/client/types.ts';
import { addLiveText } from '../../../../src/cli/render/turn/live-text.ts';
import type { LiveText } from '../../../../src/cli/render/turn/live-text.ts';
import { TURN_ID } from '../timeline.ts';

const piece = (text: string, offset: number, changes: Partial<LiveTextUpdate> = {}): LiveTextUpdate => ({
  turnId: TURN_ID,
  callNumber: 1,
  attempt: 1,
  kind: 'text',
  offset,
  text,
  ...changes,
});

const hear = (...pieces: readonly LiveTextUpdate[]): LiveText | null =>
  pieces.reduce<LiveText | null>((live, update) => addLiveText(live, update), null);

describe('live text', () => {
  test('pieces join in order', () => {
    expect(hear(piece('Hello ', 0), piece('world', 6))?.text.shown).toBe('Hello world');
  });

  test('a higher attempt rewinds what a lower one has shown', () => {
    expect(hear(piece('First try', 0), piece('Second', 0, { attempt: 2 }))?.text.shown).toBe('Second');
  });

  test('a late piece of a superseded attempt is dropped', () => {
    const heard = hear(piece('Second', 0, { attempt: 2 }), piece(' try', 9));
    expect(heard?.text.shown).toBe('Second');
    expect(heard?.attempt).toBe(2);
  });

  test('a gap shows an ellipsis and what follows it', () => {
    expect(hear(piece('Hello ', 0), piece('end', 40), piece('.', 43))?.text.shown).toBe('Hello  … end.');
  });

  test('a reader that comes late sees that the beginning is missing', () => {
    expect(hear(piece('middle', 100))?.text.shown).toBe(' … middle');
  });

  test('a piece heard twice is shown once, and of one that overlaps only the rest', () => {
    expect(hear(piece('Hello ', 0), piece('Hello ', 0), piece('lo world', 3))?.text.shown).toBe('Hello world');
  });

  test('a later call begins anew, an earlier one is dropped', () => {
    const heard = hear(piece('one', 0), piece('two', 0, { callNumber: 2 }), piece(' more', 3));
    expect(heard?.text.shown).toBe('two');
  });

  test('thinking is kept apart from text', () => {
    const heard = hear(piece('hm', 0, { kind: 'thinking' }), piece('Answer', 0));
    expect([heard?.thinking.shown, heard?.text.shown]).toEqual(['hm', 'Answer']);
  });

  test('the arguments of each tool call grow on their own', () => {
    const call = (callIndex: number, text: string, offset: number) =>
      piece(text, offset, { kind: 'tool_call', callIndex, toolName: `tool_${callIndex}` });
    const heard = hear(call(0, '{"a":', 0), call(1, '{}', 0), call(0, '1}', 5), call(0, '…', 90));
    expect([...(heard?.calls.values() ?? [])].map((each) => [each.name, each.arguments.shown])).toEqual([
      ['tool_0', '{"a":1} … …'],
      ['tool_1', '{}'],
    ]);
    expect(heard?.text.shown).toBe('');
  });

  test('what is kept stays bounded', () => {
    let live: LiveText | null = null;
    for (let offset = 0; offset < 100_000; offset += 1_000) live = addLiveText(live, piece('x'.repeat(1_000), offset));
    expect(live?.text.shown.length).toBe(20_000);
    expect(live?.text.nextOffset).toBe(100_000);
  });
});
