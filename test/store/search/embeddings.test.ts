import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmbeddingClient } from '../../../src/models/embedder.ts';
import { startSimulator } from '../../../packages/simulator/src/index.ts';
import type { Simulator } from '../../../packages/simulator/src/index.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { deleteConversation } from '../../../src/store/conversations/delete-conversation.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { findUnindexedConversations } from '../../../src/store/upkeep/upkeep.ts';
import { embedBehind } from '../../../src/store/search/embeddings.ts';
import { MARKS } from '../../../src/store/search/scope.ts';
import { reindexConversation } from '../../../src/store/search/index-conversation.ts';
import { modelKey } from '../../../src/store/search/find-by-meaning.ts';
import type { TextEmbedder } from '../../../src/store/search/find-by-meaning.ts';
import { endTurn } from '../../../src/store/turns/end-turn.ts';
import { killedBehindWrite } from '../../support/worker-deaths.ts';
import { indexOnce } from '../../support/index-once.ts';
import { startVectorDatabase } from '../../support/vector-database.ts';
import { closeToolCall, conversationOf, openTestStore } from '../support/store-builders.ts';

const forever = new AbortController().signal;
let store: Awaited<ReturnType<typeof startVectorDatabase>>;
let sql: Database;
let simulator: Simulator;
let embedder: TextEmbedder;
/** Texts that were asked for. */
let asked: string[] = [];

beforeAll(async () => {
  [store, simulator] = await Promise.all([startVectorDatabase(256), startSimulator({ port: 0 })]);
  ({ sql } = store);
  const client = createEmbeddingClient(
    { name: 'simulator', protocol: 'chat', baseUrl: `${simulator.url}/v1`, apiKey: null },
    { model: 'bag', dimensions: 256 },
  );
  embedder = {
    ...client,
    async embed(texts, signal) {
      // Each passage by itself; a second text has the one before it.
      asked.push(...texts.filter((text) => !text.includes('\n')));
      // "bassoon" and "instrument" mean the same to a real model.
      return client.embed(
        texts.map((text) => text.replaceAll('bassoon', 'bassoon instrument music')),
        signal,
      );
    },
  };
});
afterAll(async () => {
  await simulator.close();
  await store.close();
});

const upkeep = (on: TextEmbedder | null, log?: (line: string) => void, database = sql): Promise<void> =>
  indexOnce(database, on, log);

/** One run of upkeep ends after a few seconds, and on a busy machine that is not enough for hundreds of passages. */
async function caughtUp(): Promise<void> {
  for (;;) {
    await upkeep(embedder);
    const behind = await sql`select from unembedded where model = ${modelKey(embedder)}`;
    if (behind.length + (await findUnindexedConversations(sql, { taskQueue: 'agent-turn', limit: 1 })).length === 0)
      return;
  }
}

/** How many passages of a conversation a search takes it to have. */
async function countedAs(conversationId: string, passages: number): Promise<void> {
  await sql`update term_frequencies set passages = ${passages} where term = ${`${MARKS.conversation}${conversationId}`}`;
}

const vectors = async (conversationId: string): Promise<number> =>
  (await sql`select from embeddings where conversation_id = ${conversationId}`).length;

describe('search by meaning', () => {
  it('finds what has no word of the query, beside what has; words alone find it not', async () => {
    const turn = await conversationOf(
      sql,
      'She plays the bassoon',
      'Buses were late',
      'The weather was dull',
      'A stew',
    );
    const { conversationId } = turn;
    await caughtUp();
    expect(await vectors(conversationId)).toBe(4);
    const query = { conversationId, query: 'musical instruments' };
    expect(await searchMemory(sql, query)).toEqual([]);
    const [first] = await searchMemory(sql, query, { embedder });
    expect(first).toMatchObject({ text: 'She plays the bassoon', match: 'meaning' });
    const joined = await searchMemory(sql, { conversationId, query: 'late music' }, { embedder });
    expect(
      joined
        .slice(0, 2)
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(['Buses were late', 'She plays the bassoon']);
    expect(joined.find(({ text }) => text === 'Buses were late')).toMatchObject({ match: 'words', matched: ['late'] });
    const filtered = await searchMemory(sql, { ...query, kinds: ['assistant'] }, { embedder });
    expect(filtered).toEqual([]);
  });

  it('puts the newer of two that say the same with another value first, though the older is nearer', async () => {
    const older = 'The bassoon teacher is Anna Berg, and that is it, if you ask.';
    const newer = 'The bassoon teacher is Carl Dorn now, and that is it, if you ask me and all the others here.';
    const others = ['A bassoon is heavy', 'Is that it? And you?'];
    const { conversationId } = await conversationOf(sql, older, 'Buses were late', newer, ...others);
    await caughtUp();
    const found = await searchMemory(sql, { conversationId, query: 'musical instruments' }, { embedder });
    expect(found.every(({ match }) => match === 'meaning')).toBe(true);
    const texts = found.map(({ text }) => text);
    expect(texts.indexOf(newer)).toBe(texts.indexOf(older) - 1);
  });

  it('finds what is in scope though hundreds of others are nearer, by comparing all and by the index', async () => {
    const { conversationId } = await conversationOf(sql, 'She plays the bassoon', 'Buses were late');
    await conversationOf(sql, ...Array.from({ length: 250 }, (_, at) => `musical instruments ${at}`));
    await caughtUp();
    const search = async (): Promise<string[]> => {
      const found = await searchMemory(sql, { conversationId, query: 'musical instruments' }, { embedder });
      return found.map(({ text }) => text);
    };
    expect(await search()).toContain('She plays the bassoon');
    // As if it had many: then the index leads, which the planner would not take for so few.
    await countedAs(conversationId, 1_000_000);
    await sql`select set_config(name, 'off', false) from unnest('{enable_seqscan,enable_bitmapscan,enable_sort}'::text[]) as name`;
    try {
      expect(await search()).toContain('She plays the bassoon');
    } finally {
      await sql`select set_config(name, 'on', false) from unnest('{enable_seqscan,enable_bitmapscan,enable_sort}'::text[]) as name`;
      await countedAs(conversationId, 2);
    }
  });

  it('goes by words alone when the server fails, says so, and catches up afterwards', async () => {
    const turn = await conversationOf(sql, 'The heron nests', 'Nothing else');
    const { conversationId } = turn;
    const broken: TextEmbedder = { ...embedder, embed: () => Promise.reject(new Error('no route to host')) };
    const log: string[] = [];
    await upkeep(broken, (line) => void log.push(line));
    expect(log.join('')).toContain('passages could not be embedded');
    expect(await vectors(conversationId)).toBe(0);
    const failures: unknown[] = [];
    const onFailure = (error: unknown): void => void failures.push(error);
    const found = await searchMemory(sql, { conversationId, query: 'heron' }, { embedder: broken, onFailure });
    expect(found.map(({ text }) => text)).toEqual(['The heron nests']);
    expect(failures).toHaveLength(1);
    await caughtUp();
    expect(await vectors(conversationId)).toBe(2);
  });

  it('gives the other conversations their vectors when the server takes a text of one not', async () => {
    const refused = await conversationOf(sql, 'unspeakable', 'one', 'two', 'three');
    const other = await conversationOf(sql, 'The heron nests', 'Nothing else');
    const choosy: TextEmbedder = {
      ...embedder,
      embed: (texts, signal) =>
        texts.includes('unspeakable') ? Promise.reject(new Error('too long')) : embedder.embed(texts, signal),
    };
    const log: string[] = [];
    await upkeep(choosy, (line) => void log.push(line));
    await expect.poll(() => vectors(other.conversationId), { timeout: 60_000 }).toBe(2);
    expect(log.join('')).toContain('passages could not be embedded');
    expect(await vectors(refused.conversationId)).toBe(0);
    await caughtUp();
    expect(await vectors(refused.conversationId)).toBe(4);
  });

  it('embeds each passage once, in batches, again after a reindex, and forgets what is deleted', async () => {
    const turn = await conversationOf(sql, ...Array.from({ length: 70 }, (_, index) => `statement ${index}`));
    const { conversationId } = turn;
    asked = [];
    await upkeep(embedder);
    await caughtUp();
    expect(asked.length).toBe(70);
    await reindexConversation(sql, conversationId);
    expect(await vectors(conversationId)).toBe(0);
    expect(await embedBehind(sql, embedder, { signal: forever, taskQueue: 'another' })).toBe(0);
    expect(await embedBehind(sql, embedder, { signal: forever })).toBe(70);
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    await deleteConversation(sql, conversationId);
    expect(await vectors(conversationId)).toBe(0);
  });

  it('killed behind any of its writes, upkeep does the rest the next time: nothing is lost, and no passage embedded twice', async () => {
    const { conversationId } = await conversationOf(sql, ...Array.from({ length: 130 }, (_, index) => `line ${index}`));
    asked = [];
    const lastWrites: string[] = [];
    for (let isDone = false; !isDone;) {
      const killed = killedBehindWrite(sql);
      // What a dead worker fails with, nobody hears.
      await upkeep(embedder, undefined, killed.database).catch(() => undefined);
      lastWrites.push(...killed.lastWrite());
      isDone = killed.lastWrite().length === 0;
    }
    expect(lastWrites).toEqual(expect.arrayContaining(['passages', 'embeddings', 'unembedded']));
    // Batches of at most 32, each of which was the last thing that a worker did.
    expect(lastWrites.filter((table) => table === 'embeddings')).toHaveLength(5);
    expect(await vectors(conversationId)).toBe(130);
    expect(asked).toHaveLength(130);
    expect(await sql`select from unembedded where model = ${modelKey(embedder)}`).toHaveLength(0);
  });

  it('makes vectors of another model beside those that are there, and refuses vectors of another size', async () => {
    const [before] = await sql<{ count: number }[]>`select count(*)::int from embeddings`;
    const other = { ...embedder, model: 'simulator/other' };
    expect(await embedBehind(sql, other, { signal: forever })).toBe(before?.count);
    expect(await sql`select from embeddings`).toHaveLength(2 * (before?.count ?? 0));
    expect(await embedBehind(sql, embedder, { signal: forever })).toBe(0);
    const small = createEmbeddingClient(
      { name: 'simulator', protocol: 'chat', baseUrl: `${simulator.url}/v1`, apiKey: null },
      { model: 'bag', dimensions: 8 },
    );
    await expect(small.embed(['x'], forever)).rejects.toThrow('embeddings.dimensions in holdfast.yaml is 8');
  });

  it('puts the prefix of its purpose before each text, and takes vectors of another prefix for another model', async () => {
    const provider = { name: 'simulator', protocol: 'chat', baseUrl: `${simulator.url}/v1`, apiKey: null } as const;
    const plain = createEmbeddingClient(provider, { model: 'bag', dimensions: 256 });
    const prefixed = createEmbeddingClient(provider, {
      model: 'bag',
      dimensions: 256,
      passagePrefix: 'document ',
      queryPrefix: 'question ',
    });
    expect(await prefixed.embed(['heron'], forever)).toEqual(await plain.embed(['document heron'], forever));
    expect(await prefixed.embed(['heron'], forever, 'query')).toEqual(await plain.embed(['question heron'], forever));
    expect(modelKey(prefixed)).not.toBe(modelKey(plain));
  });

  it('is off, and nothing else is, where Postgres has no pgvector', async () => {
    const plain = await openTestStore();
    try {
      expect(await embedBehind(plain.sql, embedder, { signal: forever })).toBe(0);
      const { conversationId } = await conversationOf(plain.sql, 'The heron nests');
      asked = [];
      const failures: unknown[] = [];
      const onFailure = (error: unknown): void => void failures.push(error);
      const found = await searchMemory(plain.sql, { conversationId, query: 'heron' }, { embedder, onFailure });
      expect(found.map(({ text }) => text)).toEqual(['The heron nests']);
      expect(String(failures[0])).toContain('this database has no table for vectors');
      expect(asked).toEqual([]);
    } finally {
      await plain.close();
    }
  });
});
