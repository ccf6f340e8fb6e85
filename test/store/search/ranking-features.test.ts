import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

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

  it('one that asks goes below one that states', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'Grandpa bought some old pear trees there Mia says',
      ...BETWEEN,
      'Do foggy mornings make pear trees smell lovely Otto?',
    );
    expect((await search(conversationId, 'pear trees'))[0]).toContain('Grandpa');
  });

  it('three at most are of one entry before all else; its others fill up what is wanted', async () => {
    const part = (number: number): string =>
      `The numbat digs here, says page ${number}. ${`word${number} `.repeat(150)}`;
    const { conversationId } = await conversationOf(
      sql,
      Array.from({ length: 8 }, (_, number) => part(number)).join('\n\n'),
      'Thanks.',
      'Nobody has ever seen a numbat that digs, not here and not in the far and dry country behind the hills of the south.',
    );
    const [pages, , nobody] = (await listEntries(sql, { conversationId })).map(({ id }) => id);
    const find = async (limit: number) =>
      (await searchMemory(sql, { conversationId, query: 'numbat digs page', limit })).map(({ entryId }) => entryId);
    const four = await find(4);
    expect(four.filter((id) => id === pages)).toHaveLength(3);
    expect(four).toContain(nobody);
    const all = await find(20);
    expect(all.filter((id) => id === pages)).toHaveLength(8);
    expect(all.slice(0, 4).toSorted()).toEqual(four.toSorted());
  });

  it('one about all the people of a query goes below one that says what is asked of one of them', async () => {
    const people = [
      'Ada Lind sails.',
      'Ada Lind cooks.',
      'Ada Lind repairs clocks.',
      'Bo Falk bakes.',
      'Bo Falk reads.',
    ];
    const others = ['Bo Falk swims.', 'Cy Moss sings.', 'Cy Moss dances.'];
    const [all, one] = ['Ada Lind, Bo Falk and Cy Moss hike.', 'Cy Moss paints big landscapes.'];
    const hall = 'Landscapes hang in the hall.';
    const texts = [all, ...BETWEEN, one, ...BETWEEN, hall, ...BETWEEN, ...people, ...others];
    const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
    const found = await search(conversationId, 'who of Ada Lind, Bo Falk and Cy Moss paints landscapes');
    expect(found.slice(0, 2)).toEqual([one, all]);
  });

  it('words that make a question tell less than other stop words', async () => {
    const texts = ['which why how', ...BETWEEN, 'under these clouds', ...BETWEEN, 'stone'];
    const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
    const found = await search(conversationId, 'why which under');
    expect(found.slice(0, 2)).toEqual(['under these clouds', 'which why how']);
  });
});
