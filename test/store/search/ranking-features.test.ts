import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const BETWEEN = ['Lunch was late.', 'The printer needs paper.', 'Nobody answered.', 'It rained.'];

async function search(conversationId: string, query: string, limit = 10) {
  return (await searchMemory(sql, { conversationId, query, limit })).map(({ text }) => text);
}

describe('of passages with the same words', () => {
  it('one that names nobody of the query goes below one that does', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'Otto Brandt adores pottery.',
      'Somebody adores pottery greatly pottery.',
      'Otto Brandt sails.',
      'Otto Brandt cooks.',
      'Otto Brandt reads.',
      'Otto Brandt sings.',
    );
    expect((await search(conversationId, 'what pottery does that Otto adore'))[0]).toBe('Otto Brandt adores pottery.');
  });

  it('one that has a number goes above a newer one without, when a number is asked for', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'Grandpa bought eleven pear trees there Mia says so',
      ...BETWEEN,
      'Foggy mornings make pear trees smell lovely Otto adds',
    );
    expect((await search(conversationId, 'how many pear trees'))[0]).toContain('eleven');
    expect((await search(conversationId, 'pear trees'))[0]).toContain('lovely');
  });

  it('one that asks goes below one that states', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'Grandpa bought some old pear trees there Mia says',
      ...BETWEEN,
      'Do foggy mornings make pear trees smell lovely Otto?',
    );
    expect((await search(conversationId, 'pear trees'))[0]).toContain('Grandpa');
  });

  it('three at most are of one entry', async () => {
    const part = (number: number): string =>
      `The numbat digs here, says page ${number}. ${`word${number} `.repeat(150)}`;
    const { conversationId } = await conversationOf(
      sql,
      Array.from({ length: 8 }, (_, number) => part(number)).join('\n\n'),
      'Nobody has seen a numbat.',
    );
    const found = await searchMemory(sql, { conversationId, query: 'numbat' });
    const counts = new Map<string, number>();
    for (const { entryId } of found) counts.set(entryId, (counts.get(entryId) ?? 0) + 1);
    expect([...counts.values()].toSorted((one, other) => one - other)).toEqual([1, 3]);
  });

  it('stop words that few have count less than a word that more have', async () => {
    const texts = [
      'otter under',
      'otter one',
      'otter two',
      'because of it',
      'stone',
      'cloud',
      'river',
      'field',
      'tower',
    ];
    const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
    const found = await search(conversationId, 'otter because');
    expect(found.at(-1)).toBe('because of it');
  });

  it('words that make a question tell less than other stop words', async () => {
    const texts = ['which why how', ...BETWEEN, 'under these clouds', ...BETWEEN, 'stone'];
    const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
    const found = await search(conversationId, 'why which under');
    expect(found.slice(0, 2)).toEqual(['under these clouds', 'which why how']);
  });
});
