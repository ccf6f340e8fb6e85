import { expect, test } from 'vitest';
import type { RankedCandidate } from '../../../src/store/search/candidate.ts';
import { foldNearDuplicates } from '../../../src/store/search/near-duplicates.ts';

const LONG = Array.from(
  { length: 90 },
  (_, index) => `word${String.fromCharCode(97 + (index % 26))}${'x'.repeat(index / 26)}`,
);

function passage(id: string, text: string, more: Partial<RankedCandidate> = {}): RankedCandidate {
  return {
    conversationId: 'conversation',
    sourceId: id,
    kind: 'tool_result',
    sequence: 1,
    toolName: 'read_file',
    path: null,
    offset: 0,
    text,
    vector: '',
    words: text.split(' ').length,
    createdAt: new Date('2026-03-05T10:00:00Z'),
    gathered: 0,
    score: 1,
    match: 'words',
    isSaidByAsked: false,
    asks: false,
    matched: [],
    ...more,
  };
}

/** The same words but for one in the middle. */
function changed(word: string): string {
  return [...LONG.slice(0, 45), word, ...LONG.slice(46)].join(' ');
}

const ids = (...passages: RankedCandidate[]): string[] =>
  foldNearDuplicates(passages, 10).map(({ sourceId }) => sourceId);

test('of near-duplicates the newest stays, at the place and with the score of the best', () => {
  const newer = { createdAt: new Date('2026-03-06T10:00:00Z'), score: 0.5 };
  const folded = foldNearDuplicates(
    [
      passage('best', changed('slowly')),
      passage('other', 'something else'),
      passage('newest', changed('quickly'), newer),
      passage('older', changed('calmly')),
      passage('unwanted', 'something else again'),
    ],
    2,
  );
  expect(folded.map(({ sourceId, score }) => [sourceId, score])).toEqual([
    ['newest', 1],
    ['other', 1],
  ]);
});

test('passages stay that differ in more, in a number or a name, in what the query asks for, or in who says them', () => {
  const first = passage('first', changed('slowly'));
  expect(ids(first, passage('much', LONG.toReversed().join(' ')))).toHaveLength(2);
  expect(ids(passage('short', 'the door is blue'), passage('shorter', 'the door is red'))).toHaveLength(2);
  expect(ids(passage('number', changed('7,412')), passage('another', changed('7,413')))).toHaveLength(2);
  expect(ids(passage('name', changed('Rome')), passage('another', changed('Paris')))).toHaveLength(2);
  expect(ids(first, passage('said', changed('calmly'), { kind: 'assistant' }))).toHaveLength(2);
  expect(ids(passage('phrase', changed('calmly'), { match: 'phrase' }), first)).toHaveLength(2);
  expect(ids(first, passage('elsewhere', changed('calmly'), { conversationId: 'another' }))).toHaveLength(2);
});
