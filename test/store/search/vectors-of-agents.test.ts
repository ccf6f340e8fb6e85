import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { deleteConversation } from '../../../src/store/delete-conversation.ts';
import { indexConversation, searchMemory } from '../../../src/store/search.ts';
import type { TextEmbedder } from '../../../src/store/search/embedder.ts';
import { embedBehind } from '../../../src/store/search/embeddings.ts';
import { reindexConversation } from '../../../src/store/search/reindex.ts';
import { ensureEmbeddings } from '../../../src/store/search/vector-table.ts';
import { startVectorDatabase } from '../../support/vector-database.ts';

const forever = { signal: new AbortController().signal, isAnew: false };

let store: Awaited<ReturnType<typeof startVectorDatabase>>;
let sql: Database;

/** Music has a direction of its own. */
const embedder: TextEmbedder = {
  model: 'test/axes',
  dimensions: 2,
  embed: (texts) => Promise.resolve(texts.map((text) => (/bassoon|music/u.test(text) ? [1, 0.01] : [0.01, 1]))),
};

beforeAll(async () => {
  store = await startVectorDatabase();
  ({ sql } = store);
});
afterAll(() => store.close());

async function load(agent: string, ...texts: readonly string[]): Promise<string> {
  const { conversationId } = await loadEntries(sql, texts.length, (line) => texts[line] ?? '');
  await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
  await indexConversation(sql, conversationId);
  return conversationId;
}

async function vectorsOf(agent: string): Promise<number | undefined> {
  const [row] = await sql<{ vectors: number }[]>`select vectors::int from search_agents where agent = ${agent}`;
  return row?.vectors;
}

describe('the vectors of an agent are counted', () => {
  it('as they are made, and as their conversations are indexed anew and deleted', async () => {
    const first = await load('counted', 'one', 'two', 'three');
    const second = await load('counted', 'four');
    await load('another', 'five', 'six');
    await embedBehind(sql, embedder, forever);
    expect([await vectorsOf('counted'), await vectorsOf('another')]).toEqual([4, 2]);
    await reindexConversation(sql, first);
    expect(await vectorsOf('counted')).toBe(1);
    await embedBehind(sql, embedder, forever);
    expect(await vectorsOf('counted')).toBe(4);
    await deleteConversation(sql, second);
    expect([await vectorsOf('counted'), await vectorsOf('another')]).toEqual([3, 2]);
  });

  it('anew where they are those of another model', async () => {
    await load('remade', 'one', 'two');
    await embedBehind(sql, embedder, forever);
    const other = { ...embedder, model: 'test/other' };
    await ensureEmbeddings(sql, other, { isAnew: true });
    expect(await vectorsOf('remade')).toBe(0);
    await embedBehind(sql, other, forever);
    expect(await vectorsOf('remade')).toBe(2);
    await embedBehind(sql, embedder, { ...forever, isAnew: true });
    expect(await vectorsOf('remade')).toBe(2);
  });

  it('where an older version made the table, and did not', async () => {
    const conversationId = await load('older', 'one', 'two');
    await embedBehind(sql, embedder, forever);
    await sql`alter table embedding_progress drop column agent_number cascade`;
    await sql`drop trigger count_vectors_of_agent on embedding_progress`;
    await sql`update search_agents set vectors = 0`;
    await ensureEmbeddings(sql, embedder, forever);
    expect(await vectorsOf('older')).toBe(2);
    await deleteConversation(sql, conversationId);
    expect(await vectorsOf('older')).toBe(0);
  });
});

describe('a search by meaning of an agent', () => {
  it('finds what is nearest of its own vectors, whether all are compared or, of many, the index leads', async () => {
    const bassoon = await load('of-music', 'She plays the bassoon');
    await load('of-others', 'Of music');
    await embedBehind(sql, embedder, forever);
    const ids = async () =>
      (await searchMemory(sql, { agent: 'of-music', query: 'musical instruments' }, { embedder })).map(
        ({ conversationId }) => conversationId,
      );
    expect(await ids()).toEqual([bassoon]);
    await sql`update search_agents set vectors = 1000000 where agent = 'of-music'`;
    expect(await ids()).toEqual([bassoon]);
  });
});
