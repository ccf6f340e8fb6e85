import { expect, test } from 'vitest';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

test.for([
  ['last year', '2025'],
  ['two years ago', '2024'],
  ['this year', '2026'],
])('finds what was said in the year that the question names: %s', async ([asked, year]) => {
  const bought = [2024, 2025, 2026].map((each) => `[9 May ${each}] Ada: I bought something for the garden`);
  const { conversationId } = await conversationOf(sql, ...bought);
  const query = `what did Ada buy ${asked}`;
  const [first] = await searchMemory(sql, { conversationId, query, askedAt: '2026-06-20T10:00:00.000Z' });
  expect(first?.text).toContain(year);
});
