import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { deleteConversation } from '../../../src/store/delete-conversation.ts';
import { indexConversation, searchMemory } from '../../../src/store/search.ts';
import { filteredPassages } from '../../../src/store/search/filtered-passages.ts';
import type { SearchFilter } from '../../../src/store/search/filtered-passages.ts';
import { BLOCK_PASSAGES } from '../../../src/store/search/postings.ts';
import { agentScope, conversationScope } from '../../../src/store/search/scope.ts';
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

describe('passages of a time', () => {
  const inYears = (first: number, end: number): { after: string; before: string } => {
    return { after: `${first}-01-01T00:00:00Z`, before: `${end}-01-01T00:00:00Z` };
  };
  const agent = 'bench-of-times';

  async function loadYears(years: readonly number[]): Promise<string> {
    const { conversationId } = await loadEntries(
      sql,
      years.length,
      (index) => `[${years[index]}-03-05 10:00] Ada: the harbour.`,
    );
    await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
    await indexConversation(sql, conversationId);
    return conversationId;
  }

  /** Years of those that a filter lets through, of all of the agent. */
  async function yearsFound(filter: SearchFilter, mostListed?: number): Promise<readonly number[]> {
    const scope = await agentScope(sql, agent);
    if (scope === null) throw new Error('nothing is indexed');
    const { ids, blocks } = await filteredPassages(sql, scope, filter, mostListed === undefined ? {} : { mostListed });
    const stored = await sql<{ id: string; year: number }[]>`
      select p.id, substr(p.text, 2, 4)::int as year from passages p join conversations c on c.id = p.conversation_id
      where c.agent = ${agent} order by year`;
    const found = stored.filter(({ id }) => ids?.has(Number(id)));
    expect(new Set(blocks)).toEqual(new Set(found.map(({ id }) => Math.floor(Number(id) / BLOCK_PASSAGES))));
    return found.map(({ year }) => year);
  }

  it.each([20_000, 200, 40, 1])(
    'are those and no others, with times in any order, when up to %i are listed',
    async (mostListed) => {
      const stored = [
        // The first and the last of it are written behind the others, in a statement of their own.
        [...Array.from({ length: 260 }, (_, index) => 2021 + ((index * 7) % 3)), 2024, 2020],
        [2022, 2022],
        [2023, 2024, 2020],
      ];
      const conversations: string[] = [];
      for (const years of stored) conversations.push(await loadYears(years));
      const all = stored.flat().toSorted((one, other) => one - other);
      for (const [first, end] of [
        [2022, 2025],
        [2010, 2023],
        [2021, 2022],
        [2022, 2023],
        [2019, 2030],
        [2020, 2021],
      ] as const)
        expect(await yearsFound(inYears(first, end), mostListed)).toEqual(
          all.filter((year) => year >= first && year < end),
        );
      expect(await yearsFound({ after: '2024-01-01T00:00:00Z' }, mostListed)).toEqual(
        all.filter((year) => year >= 2024),
      );
      expect(await yearsFound({ before: '2021-01-01T00:00:00Z' }, mostListed)).toEqual(
        all.filter((year) => year < 2021),
      );
      for (const id of conversations) await deleteConversation(sql, id);
    },
  );

  it('are not looked at in a block that lies wholly within it', async () => {
    const conversationId = await loadYears([2022, 2023]);
    const { scope } = await conversationScope(sql, conversationId);
    if (scope === null) throw new Error('nothing is indexed');
    // Who looked would find the block empty.
    await sql`delete from passages where conversation_id = ${conversationId}`;
    expect((await filteredPassages(sql, scope, inYears(2022, 2024))).blocks).toEqual(scope.blocks);
    expect((await filteredPassages(sql, scope, inYears(2023, 2024))).blocks).toEqual([]);
  });
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
    const find = async (filter: SearchFilter = {}) => searchMemory(sql, { conversationId, query, ...filter });
    const found = await find();
    expect(found.map(({ text }) => text)).toEqual([newer, older]);
    expect(found[0]?.updatedBy).toBeNull();
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
  expect(found.map(({ text, updatedBy }) => [text, updatedBy === null])).toEqual([
    [texts[1], true],
    [texts[0], false],
  ]);
});
