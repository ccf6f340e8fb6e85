import { expect, test } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

const SAID = [
  '🦩',
  'A flamingo 🦩 stood there.',
  'Nice 👍🏽 work',
  'We fly to 🇳🇴 on Monday',
  '👩‍🚀 she is',
  'Nothing else.',
  '🎉 Hooray',
  '🇳🇿',
];

test.each([
  ['🦩', [0, 1]],
  ['"🦩"', [0, 1]],
  ['👍', [2]],
  ['👍🏽', [2]],
  ['🇳🇴', [3]],
  ['🚀', [4]],
  ['👩‍🚀', [4]],
  ['🎉', [6]],
  ['🦄', []],
  ['🇩🇪', []],
])('what has %s is found by it', async (query, expected) => {
  const { conversationId } = await conversationOf(sql, ...SAID);
  const found = await searchMemory(sql, { conversationId, query });
  expect(found.map(({ text }) => SAID.indexOf(text)).toSorted((one, other) => one - other)).toEqual(expected);
});

test('it is what is marked, not the word beside it; a word keeps its own place', async () => {
  const { conversationId } = await conversationOf(sql, ...SAID);
  const [found] = await searchMemory(sql, { conversationId, query: '🦩 flamingo' });
  expect(found).toMatchObject({ text: SAID[1], forms: expect.arrayContaining(['flamingo', '🦩']) });
  const [alone] = await searchMemory(sql, { conversationId, query: '🎉' });
  expect(alone?.forms).toEqual(['🎉']);
  const [row] = await searchMemory(sql, { conversationId, query: '"flamingo 🦩 stood"' });
  expect(row).toMatchObject({ text: SAID[1], match: 'phrase' });
});

test('it is found among thousands of others', async () => {
  const { conversationId } = await loadEntries(sql, 1_500, (index) => (index === 100 ? '🦩' : `👍 item ${index}`));
  const found = await searchMemory(sql, { conversationId, query: '🦩' });
  expect(found.map(({ text, match }) => [text, match])).toEqual([['🦩', 'phrase']]);
  expect(await searchMemory(sql, { conversationId, query: '👍' })).toHaveLength(10);
});
