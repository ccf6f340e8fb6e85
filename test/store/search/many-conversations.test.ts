import { expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { useTestStore } from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

/** As many as stand for all conversations of an agent when words are counted. */
const COUNTED = 100;

it('finds words of an agent that stand in none of its largest conversations, misspelt too', async () => {
  for (let index = 0; index < COUNTED; index += 1) await loadEntries(sql, 2, (line) => `common things of day ${line}`);
  const { conversationId } = await loadEntries(sql, 1, () => 'the zanzibarite key lies under the mat');
  const find = async (query: string) =>
    (await searchMemory(sql, { agent: 'bench', query })).map((passage) => [passage.conversationId, passage.match]);
  expect(await find('zanzibarite')).toEqual([[conversationId, 'phrase']]);
  expect((await find('where does the zanzibarite key lie'))[0]).toEqual([conversationId, 'words']);
  expect(await find('zanzibartie')).toEqual([[conversationId, 'similar']]);
});
