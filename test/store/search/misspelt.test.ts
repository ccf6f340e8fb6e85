import { describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../src/activities/runtime/dependencies.ts';
import { recallOf } from '../../../src/activities/tool/tool-context.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

const CLUSTER = 'The Kubernetes cluster was moved to Frankfurt in spring.';
const QUESTION = 'where is the Kuberntes thing?';

test('a search of the agent gives no place to the message that the turn answers, and knows words for which it misspells', async () => {
  const { conversationId } = await conversationOf(sql, CLUSTER, 'Lunch was late.', QUESTION);
  const memory = recallOf({ database: sql, embedder: null } as unknown as ActivityDependencies, conversationId);
  const found = await memory.search('Kuberntes', 5);
  expect(found.map(({ text, match }) => [text, match])).toEqual([[CLUSTER, 'similar']]);
});

describe('two letters in the wrong order', () => {
  const SAID = [
    'She speaks three languages.',
    'Her work is done.',
    'Running in the morning',
    'Переезд в город',
    'They left because of the trial.',
    'It came from the form.',
  ];

  test.each([
    ['lnaguages', 0],
    ['LNAGUAGES', 0],
    ['wrok', 1],
    ['urnning', 2],
    ['runnign', 2],
    ['оргод', null],
    ['огрод', 3],
    ['trail', 4],
    ['fomr', 5],
    ['teh', null],
    ['eht languages', 0],
  ])('%s', async (typo, index) => {
    const { conversationId } = await conversationOf(sql, ...SAID);
    const found = await searchMemory(sql, { conversationId, query: typo });
    expect(found.map(({ text }) => text)).toEqual(index === null ? [] : [SAID[index]]);
    if (typo !== 'eht languages') expect(found.every(({ match }) => match === 'similar')).toBe(true);
  });

  test('stand for no word that is in every sentence', async () => {
    const { conversationId } = await conversationOf(sql, 'It came from afar.');
    expect(await searchMemory(sql, { conversationId, query: 'form' })).toEqual([]);
  });

  test('are looked for in all conversations of an agent, the words of other agents left aside', async () => {
    const { conversationId } = await conversationOf(sql, 'Zebras graze.');
    await conversationOf(sql, 'Lions rest.');
    const found = await searchMemory(sql, { agent: 'reader', query: 'ezbras' });
    expect(found.map((each) => each.conversationId)).toEqual([conversationId]);
    expect(await searchMemory(sql, { agent: 'another', query: 'ezbras' })).toEqual([]);
  });
});
