import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmbeddingClient } from '../../../src/models/embedder.ts';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { startSimulator } from '../../../packages/simulator/src/index.ts';
import type { Simulator } from '../../../packages/simulator/src/index.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { deleteConversation } from '../../../src/store/conversations/delete-conversation.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { findUnindexedConversations } from '../../../src/store/upkeep/upkeep.ts';
import { embedBehind } from '../../../src/store/search/embeddings.ts';
import { MARKS } from '../../../src/store/search/scope.ts';
import { indexConversation, reindexConversation } from '../../../src/store/search/index-conversation.ts';
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

/** An indexed conversation of these texts, quickly. */
async function load(texts: readonly string[], agent = 'bench'): Promise<string> {
  const { conversationId } = await loadEntries(sql, texts.length, (line) => texts[line] ?? '');
  await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
  await indexConversation(sql, conversationId);
  return conversationId;
}

const numbered = (count: number, textOf: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => textOf(at));

/** One run of upkeep ends after a few seconds, and on a busy machine that is not enough. */
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

/** What a search of a conversation shows, in order. */
const textsFor = async (conversationId: string, query = 'musical instruments', on = embedder): Promise<string[]> =>
  (await searchMemory(sql, { conversationId, query }, { embedder: on })).map(({ text }) => text);

const vectors = async (conversationId: string): Promise<number> =>
  (await sql`select from embeddings where conversation_id = ${conversationId}`).length;

describe('search by meaning', () => {
  it('finds what has no word of the query, beside what has; words alone find it not', async () => {
    const others = ['Buses were late', 'The weather was dull', 'A stew'];
    const { conversationId } = await conversationOf(sql, 'She plays the bassoon', ...others);
    await caughtUp();
    expect(await vectors(conversationId)).toBe(4);
    const query = { conversationId, query: 'musical instruments' };
    expect(await searchMemory(sql, query)).toEqual([]);
    const [first] = await searchMemory(sql, query, { embedder });
    expect(first).toMatchObject({ text: 'She plays the bassoon', match: 'meaning' });
    const joined = await searchMemory(sql, { conversationId, query: 'late music' }, { embedder });
    const both = new Map(joined.slice(0, 2).map((found) => [found.text, found]));
    expect([...both.keys()].toSorted()).toEqual(['Buses were late', 'She plays the bassoon']);
    expect(both.get('Buses were late')).toMatchObject({ match: 'words', matched: ['late'] });
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

  it('finds what is in scope though a hundred others are nearer, by comparing all and by the index', async () => {
    const { conversationId } = await conversationOf(sql, 'She plays the bassoon', 'Buses were late');
    // The index looks at 100 at first.
    await load(
      numbered(110, (at) => `musical instruments ${at}`),
      'reader',
    );
    await caughtUp();
    expect(await textsFor(conversationId)).toContain('She plays the bassoon');
    // As if it had many: then the index leads, which the planner would not take for so few.
    await countedAs(conversationId, 1_000_000);
    await sql`select set_config(name, 'off', false) from unnest('{enable_seqscan,enable_bitmapscan,enable_sort}'::text[]) as name`;
    try {
      expect(await textsFor(conversationId)).toContain('She plays the bassoon');
    } finally {
      await sql`select set_config(name, 'on', false) from unnest('{enable_seqscan,enable_bitmapscan,enable_sort}'::text[]) as name`;
      await countedAs(conversationId, 2);
    }
  });

  it('finds what is nearest of the vectors of an agent, whether all are compared or, of many, the index leads', async () => {
    const bassoon = await load(['She plays the bassoon'], 'of-music');
    await load(['Of music'], 'of-others');
    await caughtUp();
    const search = async () =>
      (await searchMemory(sql, { agent: 'of-music', query: 'musical instruments' }, { embedder })).map(
        ({ conversationId }) => conversationId,
      );
    expect(await search()).toEqual([bassoon]);
    const counted = (passages: number) => sql`update term_frequencies set passages = ${passages} where term ^@ '@'`;
    await counted(1_000_000);
    expect(await search()).toEqual([bassoon]);
    await counted(2);
  });

  it('of two models stand side by side: each search compares those of its own, and neither worker drops the other', async () => {
    const { conversationId } = await conversationOf(sql, 'She plays the bassoon', 'A heron');
    await caughtUp();
    const other: TextEmbedder = { ...embedder, model: 'simulator/another' };
    const search = async (on: TextEmbedder) => (await textsFor(conversationId, 'musical instruments', on))[0];
    expect(await search(other)).toBeUndefined();
    const [before] = await sql<{ count: number }[]>`select count(*)::int from embeddings`;
    expect(await embedBehind(sql, other, { signal: forever })).toBe(before?.count);
    expect(await search(other)).toBe('She plays the bassoon');
    expect(await search(embedder)).toBe('She plays the bassoon');
    asked = [];
    await upkeep(embedder);
    await upkeep(other);
    expect(asked).toEqual([]);
    expect(await vectors(conversationId)).toBe(4);
  });

  it.each([
    ['fails', new Error('no route to host')],
    ['refuses everything', Object.assign(new Error('no such model'), { status: 400 })],
  ])('goes by words alone when the server %s, says so, passes no text over, and catches up', async (_, failure) => {
    const { conversationId } = await conversationOf(sql, 'The heron nests', 'Nothing else');
    const broken: TextEmbedder = { ...embedder, embed: () => Promise.reject(failure) };
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

  it('gives the other conversations their vectors when the server fails for a text of one', async () => {
    const failed = await conversationOf(sql, 'unspeakable', 'one');
    const other = await conversationOf(sql, 'The heron nests', 'Nothing else');
    const choosy: TextEmbedder = {
      ...embedder,
      embed: (texts, signal) =>
        texts.includes('unspeakable') ? Promise.reject(new Error('too long')) : embedder.embed(texts, signal),
    };
    await upkeep(choosy, () => undefined);
    expect(await vectors(other.conversationId)).toBe(2);
    expect(await vectors(failed.conversationId)).toBe(0);
    await caughtUp();
    expect(await vectors(failed.conversationId)).toBe(2);
  });

  it('embeds each passage once, in batches, again after a reindex, and forgets what is deleted', async () => {
    const turn = await conversationOf(sql, ...numbered(40, (at) => `statement ${at}`));
    const { conversationId } = turn;
    asked = [];
    await upkeep(embedder);
    await caughtUp();
    expect(asked.length).toBe(40);
    await reindexConversation(sql, conversationId);
    expect(await vectors(conversationId)).toBe(0);
    expect(await embedBehind(sql, embedder, { signal: forever, taskQueue: 'another' })).toBe(0);
    expect(await embedBehind(sql, embedder, { signal: forever })).toBe(40);
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    await deleteConversation(sql, conversationId);
    expect(await vectors(conversationId)).toBe(0);
  });

  it('killed behind any of its writes, upkeep does the rest the next time: nothing is lost, and no passage embedded twice', async () => {
    const { conversationId } = await conversationOf(sql, ...numbered(40, (at) => `line ${at}`));
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
    expect(lastWrites.filter((table) => table === 'embeddings')).toHaveLength(2);
    expect(await vectors(conversationId)).toBe(40);
    expect(asked).toHaveLength(40);
    expect(await sql`select from unembedded where model = ${modelKey(embedder)}`).toHaveLength(0);
  });

  it.each([400, 413, 422])(
    'a text that is refused with %i is passed over, once, and all others get their vectors',
    async (status) => {
      const poison = `POISON ${status}`;
      const conversationId = await load([...numbered(6, (at) => `train ${at} of ${status}`), poison], 'reader');
      let requests = 0;
      const refusing: TextEmbedder = {
        ...embedder,
        embed: (texts, signal) => {
          requests += 1;
          const refusal = Object.assign(new Error('refused'), { status });
          return texts.includes(poison) ? Promise.reject(refusal) : embedder.embed(texts, signal);
        },
      };
      const log: string[] = [];
      await upkeep(refusing, (line) => void log.push(line));
      expect(log).toEqual([]);
      const made = await sql`
        select from embeddings where conversation_id = ${conversationId} and embedding is not null`;
      expect(made).toHaveLength(6);
      requests = 0;
      await upkeep(refusing);
      expect(requests).toBe(0);
      const found = await searchMemory(sql, { conversationId, query: 'poison' }, { embedder });
      expect(found[0]).toMatchObject({ text: poison, match: 'phrase' });
    },
  );

  it('puts the prefix of its purpose before each text, and takes vectors of another prefix for another model, and refuses those of another size', async () => {
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
    const small = createEmbeddingClient(provider, { model: 'bag', dimensions: 8 });
    await expect(small.embed(['x'], forever)).rejects.toThrow('embeddings.dimensions in holdfast.yaml is 8');
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
