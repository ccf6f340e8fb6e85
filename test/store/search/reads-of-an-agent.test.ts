import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import { judgedReads, readsDuring } from '../../../bench/table-reads.ts';
import type { Database } from '../../../src/store/database.ts';
import { deleteConversation } from '../../../src/store/delete-conversation.ts';
import { newId } from '../../../src/store/ids.ts';
import { indexConversation, searchMemory } from '../../../src/store/search.ts';
import { reindexConversation } from '../../../src/store/search/reindex.ts';
import { filteredPassages } from '../../../src/store/search/filtered-passages.ts';
import { agentScope } from '../../../src/store/search/scope.ts';
import { findUnindexedConversations } from '../../../src/store/upkeep.ts';
import { openTestStore } from '../support/store-builders.ts';
import type { TestStore } from '../support/store-builders.ts';

const AGENT = 'bench-of-many';
const CONVERSATIONS = 5_000;
/** Of any table: what is kept of the hundred largest conversations, and some for the passages that are found. */
const MOST_READ = 1_000;

let store: TestStore;
let sql: Database;
let owner: Database;

beforeAll(async () => {
  // One connection, which is told to tell its counts.
  store = await openTestStore(1);
  ({ sql, owner } = store);
  const { conversationId } = await loadEntries(sql, 1, () => 'the wombat came with the flood');
  await sql`update conversations set agent = ${AGENT} where id = ${conversationId}`;
  await indexConversation(sql, conversationId);
  await loadMany();
  await load('the wombat went');
  for (let index = 0; index < 20; index += 1) await load(`common things of day ${index}, under the roof`);
  await load('the quokka key lies under the mat');
  for (const { conversationId } of await unindexed()) await indexConversation(sql, conversationId);
  await owner`vacuum analyze`;
});
afterAll(() => store.close());

/** Conversations of the agent that are indexed, as far as the tables by conversation and two words tell; they have no passages to show. */
async function loadMany(): Promise<void> {
  await sql.begin(async (open) => {
    await open`
      insert into conversations (id, agent, last_sequence)
      select gen_random_uuid(), ${AGENT}, 2 from generate_series(1, ${CONVERSATIONS})`;
    await open`
      insert into search_progress (conversation_id, through_sequence, passages, words, languages)
      select c.id, 2, 1 + abs(hashtext(c.id::text)) % 7, 10, '{english}' from conversations c
      where not exists (select from search_progress p where p.conversation_id = c.id)`;
    await open`
      insert into search_blocks (conversation_number, agent_number, is_spoken, passages, earliest, latest)
      select p.number, a.number, spoken, 1, '2020-01-01', '2022-01-01'
      from search_progress p, search_agents a, unnest('{true,false}'::bool[]) as spoken
      where not exists (select from search_blocks b where b.conversation_number = p.number)`;
    // A word of every block, and one of each fiftieth.
    for (const [term, each] of [
      ['flood', 1],
      ['drizzl', 50],
    ] as const)
      await open`
        insert into search_postings (agent_number, term, block, postings)
        select agent_number, ${term}, number, '\\x000000' from search_blocks
        where number % ${each} = 0 and earliest = '2020-01-01'`;
    await open`update conversations set is_unindexed = false`;
  });
}

async function load(text: string): Promise<string> {
  const { conversationId } = await loadEntries(sql, 1, () => text);
  await sql`update conversations set agent = ${AGENT} where id = ${conversationId}`;
  return conversationId;
}

function unindexed() {
  return findUnindexedConversations(sql, { limit: 100 });
}

/** Tables of which something is read that grows with conversations, but those that few rows make. */
async function largeReads(work: () => Promise<unknown>, most = MOST_READ) {
  await work(); // Plans and catalogue are known.
  const reads = judgedReads(await readsDuring(sql, work, { isAlone: true }));
  return reads.filter(({ scanned, fetched }) => scanned + fetched > most);
}

async function passagesOf(agent: string): Promise<{ kept: number; counted: number }> {
  const [row] = await sql<{ kept: number; counted: number }[]>`
    select (select passages::int from search_agents where agent = ${agent}) as kept, (
      select sum(p.passages)::int from search_progress p join conversations c on c.id = p.conversation_id
      where c.agent = ${agent}) as counted`;
  return row ?? { kept: -1, counted: -1 };
}

describe('of an agent with thousands of conversations', () => {
  it('a search reads no more than of one with a hundred', async () => {
    const found = async (query: string) =>
      (await searchMemory(sql, { agent: AGENT, query }, null, { mostBlocks: 100 }))[0]?.text;
    expect(await largeReads(() => found('quokka'))).toEqual([]);
    expect(await found('where does the quokka key lie')).toContain('under the mat');
    expect(await found('common things')).toContain('common things of day');
  });

  it('a word that is everywhere is read where a rare one stands, and not between', async () => {
    const limits = { mostBlocks: 10, mostOfWord: 100 };
    const found = async () =>
      (await searchMemory(sql, { agent: AGENT, query: 'wombat flood' }, null, limits)).map(({ text }) => text);
    expect((await found()).toSorted()).toEqual(['the wombat came with the flood', 'the wombat went']);
    expect(await largeReads(found)).toEqual([]);
  });

  it('words that stand in more rows than a search reads choose nothing beside one of few', async () => {
    const limits = { mostBlocks: 20_000, mostOfWord: 300, mostRows: 400 };
    // Twice to count them, once for what they find, and twice for whether they stand in a row: of the other word there are ten thousand.
    const reads = await largeReads(
      () => searchMemory(sql, { agent: AGENT, query: 'drizzle flood' }, null, limits),
      CONVERSATIONS,
    );
    expect(reads.map(({ table }) => table)).not.toContain('search_postings');
  });

  it.each([
    ['blocks that lie wholly within it', { after: '2019-01-01T00:00:00Z' }],
    ['blocks at its edge', { after: '2021-01-01T00:00:00Z' }],
  ])('a search of a time looks at the newest of its blocks, of %s', async (_, filter) => {
    const scope = await agentScope(sql, AGENT, 100);
    if (scope === null) throw new Error('nothing is indexed');
    const limits = { mostBlocks: 40, mostListed: 10 };
    expect(await largeReads(() => filteredPassages(sql, scope, filter, limits))).toEqual([]);
    const found = async () =>
      (await searchMemory(sql, { agent: AGENT, query: 'quokka', ...filter }, null, limits))[0]?.text;
    expect(await found()).toContain('under the mat');
    expect(await largeReads(found)).toEqual([]);
  });

  it('a search that has to index first finds what is not indexed without looking at all', async () => {
    const behind = async () => {
      const conversationId = await load('the numbat digs');
      await searchMemory(sql, { agent: AGENT, query: 'numbat' }, null, { mostBlocks: 100 });
      return conversationId;
    };
    expect(await largeReads(behind)).toEqual([]);
    expect(await unindexed()).toEqual([]);
  });

  it('upkeep finds what is not indexed without looking at all', async () => {
    const conversationId = await load('the dunnart digs');
    expect(await largeReads(() => unindexed())).toEqual([]);
    expect(await unindexed()).toEqual([{ conversationId }]);
    await indexConversation(sql, conversationId);
    expect(await unindexed()).toEqual([]);
  });

  it('the largest conversations stand for all, and all passages count', async () => {
    const scope = await agentScope(sql, AGENT);
    const rows = await sql<{ number: number; passages: number }[]>`
      select p.number, p.passages from search_progress p join conversations c on c.id = p.conversation_id
      where c.agent = ${AGENT} order by p.passages desc, p.number`;
    expect(scope?.numbers).toEqual(rows.slice(0, 100).map(({ number }) => number));
    expect(scope?.passages).toBe(rows.reduce((sum, { passages }) => sum + passages, 0));
  });
});

describe('the passages of an agent are counted', () => {
  it('with what is indexed, indexed anew and deleted', async () => {
    const agent = `counted-${newId()}`;
    const ids: string[] = [];
    for (const count of [600, 1]) {
      const { conversationId } = await loadEntries(sql, count, (line) => `the bilby of day ${line}`);
      await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
      await indexConversation(sql, conversationId);
      ids.push(conversationId);
    }
    expect(await passagesOf(agent)).toEqual({ kept: 601, counted: 601 });
    await reindexConversation(sql, ids[0] ?? '');
    expect(await passagesOf(agent)).toEqual({ kept: 601, counted: 601 });
    await deleteConversation(sql, ids[0] ?? '');
    expect(await passagesOf(agent)).toEqual({ kept: 1, counted: 1 });
  });
});

describe('a conversation stays unindexed', () => {
  it('when building its index anew is interrupted, until the next search of its agent', async () => {
    const { conversationId } = await loadEntries(sql, 510, (line) => `potoroo${line}`);
    const agent = `interrupted-${newId()}`;
    await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
    await indexConversation(sql, conversationId);
    expect(await unindexed()).toEqual([]);
    await reindexConversation(sql, conversationId, { signal: AbortSignal.abort() });
    expect(await unindexed()).toEqual([{ conversationId }]);
    expect((await searchMemory(sql, { agent, query: 'potoroo509' }))[0]?.text).toBe('potoroo509');
    expect(await unindexed()).toEqual([]);
  });
});
