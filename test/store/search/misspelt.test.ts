import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../src/activities/dependencies.ts';
import { recallOf } from '../../../src/activities/recall-of.ts';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const CLUSTER = 'The Kubernetes cluster was moved to Frankfurt in spring.';
const QUESTION = 'where is the Kuberntes thing?';

test('a search of the agent gives no place to the message that the turn answers, and knows words for which it misspells', async () => {
  const { conversationId } = await conversationOf(sql, CLUSTER, 'Lunch was late.', QUESTION);
  const memory = recallOf({ database: sql, embedder: null } as unknown as ActivityDependencies, conversationId);
  const found = await memory.search('Kuberntes', 5);
  expect(found.map(({ text, match }) => [text, match])).toEqual([[CLUSTER, 'similar']]);
});

test('a word that few passages have stands for one like it that many have', async () => {
  const often = Array.from({ length: 6 }, (_, at) => `The Kubernetes cluster has node ${at}.`);
  const { conversationId } = await conversationOf(sql, ...often, 'Lunch was late.', QUESTION);
  const found = await searchMemory(sql, { conversationId, query: 'Kuberntes' });
  expect(found[0]?.text).toBe(QUESTION);
  expect(found.slice(1).map(({ match }) => match)).toEqual(often.map(() => 'similar'));
});

test('new words are in the index at once: no search reads a list of those that wait for autovacuum', async () => {
  const [index] = await sql<{ options: string[] }[]>`
    select reloptions as options from pg_class where oid = 'search_vocabulary_likeness'::regclass`;
  expect(index?.options).toEqual(['fastupdate=off']);
});
