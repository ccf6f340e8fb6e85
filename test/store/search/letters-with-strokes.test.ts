import { describe, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

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

  it('is found as it is in what an older version has indexed', async () => {
    const { conversationId } = await conversationOf(sql, 'We met in Łódź.', 'We ate smørrebrød.');
    await searchMemory(sql, { conversationId, query: 'met' });
    for (const [now, before] of [
      ['lodz', 'łodz'],
      ['smorrebrod', 'smørrebrød'],
    ] as const) {
      await sql`update passages set terms = replace(terms::text, ${now}, ${before})::tsvector where conversation_id = ${conversationId}`;
      await sql`update search_postings set term = ${before} where term = ${now}`;
      await sql`update search_vocabulary set term = ${before} where term = ${now}`;
      await sql`update search_statistics set term = ${before} where term = ${now}`;
    }
    const found = await searchMemory(sql, { conversationId, query: 'where is Łódź?' });
    expect(found[0]).toMatchObject({
      text: 'We met in Łódź.',
      match: 'words',
      forms: expect.arrayContaining(['łódź']),
    });
    const [second] = await searchMemory(sql, { conversationId, query: 'lunch of smørrebrød' });
    expect(second).toMatchObject({ text: 'We ate smørrebrød.', match: 'words' });
  });
});
