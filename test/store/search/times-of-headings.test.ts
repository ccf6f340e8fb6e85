import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { MemoryQuery } from '../../../src/store/memory/recall-search.ts';
import { useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

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

describe('a date in brackets that does not say when the message was written', () => {
  const HOUR = 3_600_000;
  const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR).toISOString();

  it.each([
    [
      'is of what it is about',
      'The budget of the fair is 5000 dollars.',
      '[re: minutes of 2019-01-01] The budget of the fair is 7000 dollars.',
    ],
    ['is to come', '(due May 5, 2231) The owner of the fair is Priya.', 'The owner of the fair is Tomas.'],
    [
      'is nothing but one to come',
      '[May 5, 2231] The owner of the stall is Priya.',
      'The owner of the stall is Tomas.',
    ],
  ])('%s: the newer message goes first, and both are of today', async (_, older, newer) => {
    const { conversationId } = await loadEntries(sql, 2, (index) => (index === 0 ? older : newer));
    const query = older.includes('budget') ? 'What is the budget of the fair?' : 'Who is the owner?';
    const find = async (filter: Partial<MemoryQuery> = {}) => searchMemory(sql, { conversationId, query, ...filter });
    const found = await find();
    expect(found.map(({ text }) => text)).toEqual([newer, older]);
    const within = await find({ after: inHours(-1), before: inHours(1) });
    expect(within.map(({ text }) => text)).toEqual([newer, older]);
  });
});

it('a time at the head of a tool result does not make it older than what was said before', async () => {
  const texts = ['The port of the ferry is Amrum.', '[2019-01-01 10:00] The port of the ferry is Sylt.'];
  const { conversationId } = await loadEntries(
    sql,
    2,
    (index) => texts[index] ?? '',
    undefined,
    () => 'tool_result',
  );
  const found = await searchMemory(sql, { conversationId, query: 'port of the ferry' });
  expect(found.map(({ text }) => text)).toEqual([texts[1], texts[0]]);
});
