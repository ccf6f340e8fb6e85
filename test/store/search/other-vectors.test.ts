import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database/database.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { modelKey } from '../../../src/store/search/find-by-meaning.ts';
import type { TextEmbedder } from '../../../src/store/search/find-by-meaning.ts';
import { indexOnce } from '../../support/index-once.ts';
import { startVectorDatabase } from '../../support/vector-database.ts';
import { conversationOf } from '../support/store-builders.ts';

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
  store = await startVectorDatabase(2);
  ({ sql } = store);
});
afterAll(() => store.close());

const upkeep = (on: TextEmbedder | null, log?: (line: string) => void): Promise<void> => indexOnce(sql, on, log);

/** One run of upkeep ends after a few seconds, and on a busy machine that may be too few. */
async function caughtUp(): Promise<void> {
  for (;;) {
    await upkeep(embedder);
    const behind = await sql`select from unembedded where model = ${modelKey(embedder)}`;
    if (behind.length === 0) return;
  }
}

const vectors = async (conversationId: string): Promise<number> =>
  (await sql`select from embeddings where conversation_id = ${conversationId}`).length;

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
        const rows = await sql`
          select from unembedded where model = ${modelKey(refusing)} and conversation_id = ${conversationId}`;
        return rows.length > 0;
      };
      while (log.length === 0 && (await isBehind())) await upkeep(refusing, (line) => void log.push(line));
      expect(log).toEqual([]);
      expect(
        await sql`
      select from embeddings where conversation_id = ${conversationId} and embedding is not null`,
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

  it('of two models stand side by side: each search compares those of its own, and neither worker drops the other', async () => {
    const { conversationId } = await conversationOf(sql, 'She plays the bassoon', 'A heron');
    await caughtUp();
    const other: TextEmbedder = { ...embedder, model: 'simulator/another' };
    const search = async (on: TextEmbedder) =>
      (await searchMemory(sql, { conversationId, query: 'musical instruments' }, { embedder: on }))[0]?.text;
    expect(await search(other)).toBeUndefined();
    await upkeep(other);
    expect(await search(other)).toBe('She plays the bassoon');
    expect(await search(embedder)).toBe('She plays the bassoon');
    asked = [];
    await upkeep(embedder);
    await upkeep(other);
    expect(asked).toEqual([]);
    expect(await vectors(conversationId)).toBe(4);
  });
});
