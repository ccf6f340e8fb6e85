import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import { judgedReads, readsDuring } from '../../../bench/table-reads.ts';
import type { Database } from '../../../src/store/database.ts';
import { deleteConversation } from '../../../src/store/delete-conversation.ts';
import { newId } from '../../../src/store/ids.ts';
import { indexConversation, searchMemory } from '../../../src/store/search.ts';
import { reindexConversation } from '../../../src/store/search/reindex.ts';
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

beforeAll(async () => {
  // One connection, which is told to tell its counts.
  store = await openTestStore(1);
  ({ sql } = store);
  await loadMany();
  for (let index = 0; index < 20; index += 1) await load(`common things of day ${index}, under the roof`);
  await load('the quokka key lies under the mat');
  for (const { conversationId } of await unindexed()) await indexConversation(sql, conversationId);
  await sql`vacuum analyze`;
});
afterAll(() => store.close());

/** Conversations of the agent that are indexed, as far as the tables by conversation tell; none has a word that is searched for. */
async function loadMany(): Promise<void> {
  await sql.begin(async (open) => {
    await open`insert into search_agents (agent) values (${AGENT})`;
    await open`
      insert into conversations (id, agent, last_sequence)
      select gen_random_uuid(), ${AGENT}, 2 from generate_series(1, ${CONVERSATIONS})`;
    await open`
      insert into search_progress (conversation_id, through_sequence, passages, words, languages)
      select id, 2, 1 + abs(hashtext(id::text)) % 7, 10, '{english}' from conversations`;
    await open`
      insert into search_blocks (conversation_number, agent_number, is_spoken, passages)
      select p.number, a.number, spoken, 1 from search_progress p, search_agents a, unnest('{true,false}'::bool[]) as spoken`;
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
async function largeReads(work: () => Promise<unknown>) {
  await work(); // Plans and catalogue are known.
  const reads = judgedReads(await readsDuring(sql, work, { isAlone: true }));
  return reads.filter(({ scanned, fetched }) => scanned + fetched > MOST_READ);
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
