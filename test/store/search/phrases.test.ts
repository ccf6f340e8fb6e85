import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { hasPhrases, phrasesOf } from '../../../src/store/search/phrases.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

describe('a phrase', () => {
  it.each([
    ['war', 'I bought new software', false],
    ['war', 'The war ended', true],
    ['9f8e7d6', 'Fixed in 9f8e7d6c5b4a', true],
    ['store/errors', 'See src/store/errors.ts', true],
    ['fitCheck', 'call readFitCheck', true],
    ['猫を飼', '私は猫を飼っています', true],
    ['Connection  refused', 'the connection refused', true],
    ['nginx "connection refused"', 'We saw "connection refused" there', true],
    ['nginx "connection refused"', 'nginx refused the connection', false],
    ['"alpha" or "beta"', 'alpha alone', false],
    ["don't stop, it's late", 'stop', false],
  ])('of %j in %j: %j', (query, text, expected) => {
    expect(hasPhrases(text, phrasesOf(query))).toBe(expected);
  });

  it('in quotation marks within a query puts what has it first', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'nginx: connection was refused by nginx, and nginx refused',
      'We saw "connection refused" there, on a very long day with many other things to look at',
      'software is a ware',
    );
    const [first] = await searchMemory(sql, { conversationId, query: 'nginx "connection refused"' });
    expect(first).toMatchObject({ match: 'phrase', text: expect.stringContaining('We saw') });
    const within = await searchMemory(sql, { conversationId, query: 'war' });
    expect(within.map(({ match }) => match)).toEqual(['similar']);
  });

  it('of common words is found among thousands that have the words apart', async () => {
    const long =
      'On the last morning of that long journey through the northern valleys we had to get up at four, and nobody was happy with it at all.';
    const textOf = (index: number): string => (index === 100 ? long : `Get on, then up it goes, item ${index}.`);
    const { conversationId } = await loadEntries(sql, 1_500, textOf);
    for (const query of ['"get up"', 'get up']) {
      const [first] = await searchMemory(sql, { conversationId, query, limit: 3 });
      expect(first).toMatchObject({ match: 'phrase', text: long });
    }
  });
});
