import { expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

it('finds what says more although hundreds of copies of a shorter text have the same words', async () => {
  const reasons = ['disk', 'cable', 'licence', 'certificate', 'password'];
  const textOf = (index: number): string =>
    reasons[index] === undefined
      ? 'pipeline failed'
      : `the pipeline failed because of the ${reasons[index]}, as was said on a long day in the cellar by all who were there`;
  const { conversationId, entryIds } = await loadEntries(sql, 305, textOf);
  const found = await searchMemory(sql, { conversationId, query: 'pipeline failed' });
  expect(found).toHaveLength(6);
  // Of the copies the newest is shown.
  expect(found.find(({ text }) => text === 'pipeline failed')?.entryId).toBe(entryIds.at(-1));
});
