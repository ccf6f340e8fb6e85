import { describe, expect, it } from 'vitest';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

const SAID = [
  'We met in Łódź.',
  'Smørrebrød for lunch.',
  'Die Straße ist nicht lang, und das ist gut für mich.',
  'Encyclopædia and cœur',
  'Þór called.',
  'Bağışla beni',
];

describe('a letter that is none with an accent', () => {
  it.each([
    ['Lodz', 0],
    ['Łódź', 0],
    ['lodz', 0],
    ['smorrebrod', 1],
    ['smørrebrød', 1],
    ['Strasse', 2],
    ['STRASSE', 2],
    ['straße', 2],
    ['encyclopaedia', 3],
    ['coeur', 3],
    ['Thor', 4],
    ['bagisla', 5],
  ])('is found as it is and as it is written without it: %s', async (query, index) => {
    const { conversationId } = await conversationOf(sql, ...SAID);
    const found = await searchMemory(sql, { conversationId, query });
    expect(found.map(({ text, match }) => [text, match === 'similar'])).toEqual([[SAID[index], false]]);
  });
});
