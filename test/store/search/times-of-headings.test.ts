import { expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
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
