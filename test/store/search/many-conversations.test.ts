import { expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { countUnindexed, indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

async function load(agent: string, texts: readonly string[]): Promise<string> {
  const { conversationId } = await loadEntries(sql, texts.length, (line) => texts[line] ?? '');
  await sql`update conversations set agent = ${agent} where id = ${conversationId}`;
  return conversationId;
}

it('a rare word of an agent is found among thousands of passages, misspelt too, and words that all of them have in the newest', async () => {
  const oldest = await load('bench-of-old', ['the quokka key lies under the mat', 'common things then']);
  await indexConversation(sql, oldest);
  const many = await load(
    'bench-of-old',
    Array.from({ length: 2_500 }, (_, line) => `common things of day ${line}, under the roof`),
  );
  await indexConversation(sql, many);
  const find = async (query: string) =>
    (await searchMemory(sql, { agent: 'bench-of-old', query })).map((found) => found.conversationId);
  for (const query of ['quokka', 'under which mat does the quokka key lie', '"quokka key"', 'qoukka', 'quoka']) {
    expect((await find(query))[0], query).toBe(oldest);
  }
  const common = await searchMemory(sql, { agent: 'bench-of-old', query: 'common things' });
  expect(common).toHaveLength(10);
  expect(common[0]?.text).toContain('day 2499');
});

it('a search indexes a part of a backlog, and the rest is counted', async () => {
  const agent = 'bench-of-backlog';
  const ids: string[] = [];
  for (let index = 0; index < 25; index += 1)
    ids.push(await load(agent, ['common things', `the numbat of day ${index}`]));
  const found = await searchMemory(sql, { agent, query: 'numbat' });
  expect(found.length).toBeGreaterThan(0);
  expect(await countUnindexed(sql, { agent })).toBeGreaterThanOrEqual(10);
  for (const id of ids) await indexConversation(sql, id);
  expect(await countUnindexed(sql, { agent })).toBe(0);
  expect(await searchMemory(sql, { agent, query: 'numbat', limit: 30 })).toHaveLength(25);
});
