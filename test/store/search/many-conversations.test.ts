import { beforeAll, describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/search.ts';
import type { SearchFilter } from '../../../src/store/search/filtered-passages.ts';
import { agentScope } from '../../../src/store/search/scope.ts';
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

it('finds a word of an agent that stands in one of its largest conversations alone, and is not taken for as frequent in all others', async () => {
  const agent = 'bench-of-clumps';
  const load = async (texts: readonly string[]): Promise<string> => {
    const { conversationId } = await loadEntries(sql, texts.length, (line) => texts[line] ?? '');
    await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
    await indexConversation(sql, conversationId);
    return conversationId;
  };
  const clump = await load(['the quokka digs', 'a quokka sleeps', 'no quokka here', 'that is all']);
  for (let index = 0; index < COUNTED + 40; index += 1) await load(['common things', 'of every day']);
  // By the hundred largest there would be four passages with it, and a word of more than three is looked for in the newest blocks alone.
  const limits = { mostBlocks: 3, mostOfWord: 3 };
  const found = await searchMemory(sql, { agent, query: 'quokka' }, null, limits);
  expect(found.map(({ conversationId }) => conversationId)).toEqual([clump, clump, clump]);
  const scope = await agentScope(sql, agent, limits.mostBlocks);
  expect(scope?.blocks).toHaveLength(limits.mostBlocks);
  expect(scope?.allBlocks).toBe(COUNTED + 41);
});

it('finds other forms of a word in a language that none of the largest conversations of an agent is in', async () => {
  const agent = 'bench-of-languages';
  const load = async (count: number, textOf: (line: number) => string): Promise<string> => {
    const { conversationId } = await loadEntries(sql, count, textOf);
    await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
    await indexConversation(sql, conversationId);
    return conversationId;
  };
  for (let index = 0; index <= COUNTED; index += 1)
    await load(2, (line) => `we have common things for you and they are of day ${line}`);
  const german = 'Wir haben das nicht vergessen, und die Rechnung ist auch für dich bezahlt.';
  const conversationId = await load(1, () => german);
  const found = await searchMemory(sql, { agent, query: 'Rechnungen' });
  expect(found.map((passage) => [passage.conversationId, passage.match])).toEqual([[conversationId, 'words']]);
  expect((await agentScope(sql, agent))?.languages).toEqual(['english', 'german']);
});

describe('an agent with more conversations than the newest that are searched for any word', () => {
  const agent = 'bench-of-old';
  const limits = { mostBlocks: 3, mostOfWord: 5 };
  let oldest: string;
  let second: string;

  beforeAll(async () => {
    const days = [new Date('2024-01-01T10:00:00Z'), new Date('2024-01-02T10:00:00Z')];
    const load = async (textOf: (line: number) => string, times?: readonly Date[]): Promise<string> => {
      const { conversationId } = await loadEntries(sql, 2, textOf, times);
      await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
      await indexConversation(sql, conversationId);
      return conversationId;
    };
    oldest = await load((line) => (line === 0 ? 'the quokka key lies under the mat' : 'common things then'), days);
    second = await load((line) => `the harbor master counts common things ${line}`);
    for (let index = 0; index < 6; index += 1) await load((line) => `common things of day ${line}, under the roof`);
  });

  const conversations = async (query: string, filter: SearchFilter = {}): Promise<string[]> => {
    const found = await searchMemory(sql, { agent, query, ...filter }, null, limits);
    return found.map(({ conversationId }) => conversationId);
  };

  it('is searched in all of them for a rare word, in whatever company, and misspelt too', async () => {
    expect(await conversations('quokka')).toEqual([oldest]);
    expect((await conversations('under which mat does the quokka key lie'))[0]).toBe(oldest);
    expect((await conversations('"quokka key"'))[0]).toBe(oldest);
    expect(await conversations('quoka')).toEqual([oldest]);
    expect((await conversations('what does the harbor master count'))[0]).toBe(second);
  });

  it('is searched in the newest for words that are everywhere, and in those of a time that is asked for', async () => {
    const newest = await conversations('common things');
    expect(newest).not.toHaveLength(0);
    expect(newest).not.toContain(oldest);
    expect(await conversations('common things', { before: '2024-02-01T00:00:00Z' })).toEqual([oldest]);
    expect(await conversations('quokka', { before: '2024-02-01T00:00:00Z', kinds: ['user'] })).toEqual([oldest]);
    expect(await conversations('quokka', { after: '2024-02-01T00:00:00Z' })).toEqual([]);
  });

  it('is searched for a rare word in all of a time that has more blocks than are searched of it', async () => {
    expect(await conversations('quokka', { after: '2023-01-01T00:00:00Z' })).toEqual([oldest]);
    expect(await conversations('quokka', { after: '2023-01-01T00:00:00Z', kinds: ['user'] })).toEqual([oldest]);
    expect(await conversations('common things', { after: '2023-01-01T00:00:00Z' })).not.toContain(oldest);
  });
});
