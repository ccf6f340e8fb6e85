import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import type { TextEmbedder } from '../../../src/store/search/embedder.ts';
import { embedBehind } from '../../../src/store/search/embeddings.ts';
import { ensureEmbeddings } from '../../../src/store/search/vector-table.ts';
import { renewVectors } from '../../../src/worker/renew-vectors.ts';
import { indexOnce } from '../../support/index-once.ts';
import { startVectorDatabase } from '../../support/vector-database.ts';
import { conversationOf } from '../support/store-builders.ts';

const forever = { signal: new AbortController().signal, isAnew: false };
let store: Awaited<ReturnType<typeof startVectorDatabase>>;
let sql: Database;
/** Texts that were asked for. */
let asked: string[] = [];

/** Music has a direction of its own. */
const embedder: TextEmbedder = {
  model: 'test/axes',
  dimensions: 2,
  embed(texts) {
    asked.push(...texts);
    return Promise.resolve(texts.map((text) => (/bassoon|music/u.test(text) ? [1, 0.01] : [0.01, 1])));
  },
};

beforeAll(async () => {
  store = await startVectorDatabase();
  ({ sql } = store);
});
afterAll(() => store.close());

const upkeep = (on: TextEmbedder | null, log?: (line: string) => void): Promise<void> => indexOnce(sql, on, log);

/** One run of upkeep ends after a few seconds, and on a busy machine that may be too few. */
async function caughtUp(): Promise<void> {
  for (;;) {
    await upkeep(embedder);
    const behind = await sql`
      select from search_progress s left join embedding_progress e using (conversation_id)
      where s.passages > coalesce(e.passages, 0)`;
    if (behind.length === 0) return;
  }
}

const vectors = async (conversationId: string): Promise<number> =>
  (await sql`select from passage_embeddings where conversation_id = ${conversationId}`).length;

describe('vectors', () => {
  it.each([400, 413, 422])(
    'passes over a text that is refused with %i, once, and gives all others their vectors',
    async (status) => {
      const poison = `POISON ${status}`;
      const { conversationId } = await conversationOf(
        sql,
        ...Array.from({ length: 70 }, (_, at) => `train ${at} of ${status}`),
        poison,
      );
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
      const isBehind = async (): Promise<boolean> => {
        const [row] = await sql<{ is_behind: boolean }[]>`
        select s.passages > coalesce(e.passages, 0) as is_behind
        from search_progress s left join embedding_progress e using (conversation_id) where conversation_id = ${conversationId}`;
        return row?.is_behind === true;
      };
      while (log.length === 0 && (await isBehind())) await upkeep(refusing, (line) => void log.push(line));
      expect(log).toEqual([]);
      expect(
        await sql`
      select from passage_embeddings where conversation_id = ${conversationId} and embedding is not null`,
      ).toHaveLength(70);
      requests = 0;
      await upkeep(refusing);
      expect(requests).toBe(0);
      const found = await searchMemory(sql, { conversationId, query: 'poison' }, { embedder });
      expect(found[0]).toMatchObject({ text: poison, match: 'phrase' });
    },
  );

  it('passes no text over for a server that refuses everything', async () => {
    const { conversationId } = await conversationOf(sql, 'The grebe dives', 'Nothing else');
    const refusal = Object.assign(new Error('no such model'), { status: 400 });
    const log: string[] = [];
    await upkeep({ ...embedder, embed: () => Promise.reject(refusal) }, (line) => void log.push(line));
    expect(log.join('')).toContain('passages could not be embedded');
    expect(await vectors(conversationId)).toBe(0);
    await caughtUp();
    expect(await vectors(conversationId)).toBe(2);
  });

  it('passes texts over in a table of a version that did not', async () => {
    await sql`
      update passage_embeddings set embedding = (select embedding from passage_embeddings where embedding is not null limit 1)
      where embedding is null`;
    await sql`alter table passage_embeddings alter column embedding set not null`;
    await ensureEmbeddings(sql, embedder, forever);
    const [column] = await sql<{ attnotnull: boolean }[]>`
      select attnotnull from pg_attribute where attrelid = 'passage_embeddings'::regclass and attname = 'embedding'`;
    expect(column?.attnotnull).toBe(false);
  });

  it('compares no vectors of another model: such a search goes by words and says so, and such a worker lets them be', async () => {
    const { conversationId } = await conversationOf(sql, 'She plays the bassoon', 'A heron');
    await renewVectors(sql, embedder, pino({ level: 'silent' }));
    await caughtUp();
    const other = { ...embedder, model: 'simulator/another' };
    asked = [];
    const failures: unknown[] = [];
    const onFailure = (error: unknown): void => void failures.push(error);
    const search = (query: string) => searchMemory(sql, { conversationId, query }, { embedder: other, onFailure });
    expect(await search('musical instruments')).toEqual([]);
    expect((await search('heron')).map(({ text }) => text)).toEqual(['A heron']);
    expect(failures[0]).toMatchObject({ code: 'vectors_differ' });
    expect(asked).toEqual([]);
    const log: string[] = [];
    await upkeep(other, (line) => void log.push(line));
    expect(log.join('')).toContain('"code":"vectors_differ"');
    expect(await vectors(conversationId)).toBe(2);
    // The worker that starts with it makes them anew; what the one before is making meanwhile is not mixed in.
    await conversationOf(sql, 'A late passage');
    const overtaken: TextEmbedder = {
      ...embedder,
      async embed(texts, signal) {
        await renewVectors(sql, other, pino({ level: 'silent' }));
        return embedder.embed(texts, signal);
      },
    };
    await upkeep(null);
    await expect(embedBehind(sql, overtaken, forever)).rejects.toMatchObject({ code: 'vectors_differ' });
    expect(await sql`select from passage_embeddings`).toHaveLength(0);
    await upkeep(other);
    expect(await vectors(conversationId)).toBe(2);
    expect((await search('musical instruments'))[0]?.text).toBe('She plays the bassoon');
  });
});
