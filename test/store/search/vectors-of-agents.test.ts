import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { TextEmbedder } from '../../../src/store/search/find-by-meaning.ts';
import { embedBehind } from '../../../src/store/search/embeddings.ts';
import { startVectorDatabase } from '../../support/vector-database.ts';

const forever = new AbortController().signal;

let store: Awaited<ReturnType<typeof startVectorDatabase>>;
let sql: Database;

/** Music has a direction of its own. */
const embedder: TextEmbedder = {
  model: 'test/axes',
  dimensions: 2,
  embed: (texts) => Promise.resolve(texts.map((text) => (/bassoon|music/u.test(text) ? [1, 0.01] : [0.01, 1]))),
};

beforeAll(async () => {
  store = await startVectorDatabase(2);
  ({ sql } = store);
});
afterAll(() => store.close());

async function load(agent: string, ...texts: readonly string[]): Promise<string> {
  const { conversationId } = await loadEntries(sql, texts.length, (line) => texts[line] ?? '');
  await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
  await indexConversation(sql, conversationId);
  return conversationId;
}

describe('a search by meaning of an agent', () => {
  it('finds what is nearest of its own vectors, whether all are compared or, of many, the index leads', async () => {
    const bassoon = await load('of-music', 'She plays the bassoon');
    await load('of-others', 'Of music');
    await embedBehind(sql, embedder, { signal: forever });
    const ids = async () =>
      (await searchMemory(sql, { agent: 'of-music', query: 'musical instruments' }, { embedder })).map(
        ({ conversationId }) => conversationId,
      );
    expect(await ids()).toEqual([bassoon]);
    // As if it had many: then the index leads.
    await sql`update term_frequencies set passages = 1000000 where term ^@ '@'`;
    expect(await ids()).toEqual([bassoon]);
  });
});
