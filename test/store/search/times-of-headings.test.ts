import { expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/search.ts';
import { filteredPassages } from '../../../src/store/search/filtered-passages.ts';
import type { FilteredPassages } from '../../../src/store/search/filtered-passages.ts';
import { conversationScope } from '../../../src/store/search/scope.ts';
import { useTestStore } from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const LONG = `[2025-03-05 10:00] Ada: the harbour opens. ${'We talked about boats for a while. '.repeat(200)} The lighthouse is red.`;
const TEXTS = [LONG, 'the harbour and the lighthouse without a heading'];
const IMPORTED = new Date('2026-06-01T00:00:00Z');
const BETWEEN = '2026-01-01T00:00:00Z';

it('goes by the time that the heading of an entry names, in all of its passages, else by when it was written', async () => {
  const { conversationId } = await loadEntries(sql, TEXTS.length, (index) => TEXTS[index] ?? '', [IMPORTED, IMPORTED]);
  const find = async (query: string, filter: { after?: string; before?: string }) =>
    new Set(
      (await searchMemory(sql, { conversationId, query, ...filter })).map(({ text }) => text.includes('without')),
    );
  for (const query of ['harbour', 'lighthouse']) {
    expect(await find(query, { before: BETWEEN })).toEqual(new Set([false]));
    expect(await find(query, { after: '2025-03-01T00:00:00Z', before: '2025-04-01T00:00:00Z' })).toEqual(
      new Set([false]),
    );
    expect(await find(query, { after: BETWEEN })).toEqual(new Set([true]));
    expect(await find(query, { before: '2025-03-01T00:00:00Z' })).toEqual(new Set());
  }
});

it('finds the same passages whether they are listed one by one or block by block, with times in any order', async () => {
  const texts = Array.from(
    { length: 60 },
    (_, index) => `[202${(index * 7) % 5}-03-05 10:00] Ada: the harbour ${index}.`,
  );
  const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
  await indexConversation(sql, conversationId);
  const { scope } = await conversationScope(sql, conversationId);
  if (scope === null) throw new Error('nothing is indexed');
  const stored = await sql<{ id: string }[]>`select id from passages where conversation_id = ${conversationId}`;
  for (const filter of [
    { after: '2022-01-01T00:00:00Z' },
    { before: '2023-01-01T00:00:00Z' },
    { after: '2021-01-01T00:00:00Z', before: '2022-01-01T00:00:00Z' },
    { after: '2019-01-01T00:00:00Z' },
  ]) {
    const [listed, byBlock] = [
      await filteredPassages(sql, scope, filter),
      await filteredPassages(sql, scope, filter, 1),
    ];
    const idsOf = ({ ids }: FilteredPassages) => stored.map(({ id }) => Number(id)).filter((id) => ids?.has(id));
    expect(idsOf(byBlock)).toEqual(idsOf(listed));
    expect(idsOf(listed).length).toBeGreaterThan(0);
    expect(byBlock.blocks).toEqual(listed.blocks);
  }
});

it('a text that begins with a passage of white space does not take the time of the one before', async () => {
  const texts = ['[2025-03-05 10:00] Ada: the harbour opens.', `${' '.repeat(1_500)}the lighthouse is red`];
  const times = [IMPORTED, IMPORTED];
  const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '', times);
  const query = { conversationId, query: 'lighthouse' };
  expect(await searchMemory(sql, { ...query, after: BETWEEN })).toHaveLength(1);
  expect((await searchMemory(sql, { ...query, before: BETWEEN })).map(({ text }) => text)).not.toContain(
    texts[1]?.trim(),
  );
});
