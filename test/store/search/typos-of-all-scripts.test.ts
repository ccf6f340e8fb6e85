import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, openTestStore } from '../support/store-builders.ts';
import type { TestStore } from '../support/store-builders.ts';

const SAID = {
  russian: 'Переезд в Новосибирск назначен на весну.',
  greek: 'Το συνέδριο γίνεται στη Θεσσαλονίκη την άνοιξη.',
  armenian: 'Գարնանը տեղափոխվում ենք Վանաձոր քաղաքը։',
  english: 'The Kubernetes cluster was moved in spring.',
};

const TYPOS: readonly [keyof typeof SAID, string][] = [
  ['russian', 'Новосибирк'],
  ['russian', 'новосибрск'],
  ['greek', 'Θεσαλονίκη'],
  ['armenian', 'Վանձոր'],
  ['english', 'kuberntes'],
];

describe('a word that is misspelt', () => {
  let store: TestStore;
  let conversationId: string;
  beforeAll(async () => {
    store = await openTestStore();
    ({ conversationId } = await conversationOf(store.sql, ...Object.values(SAID), 'Lunch was late.'));
  });
  afterAll(async () => store.close());

  const find = async (query: string): Promise<readonly (readonly [string, string])[]> => {
    const found = await searchMemory(store.sql, { conversationId, query });
    return found.map(({ text, match }) => [text, match]);
  };

  test.each(TYPOS)('of %s is found: %s', async (language, typo) => {
    expect(await find(typo)).toEqual([[SAID[language], 'similar']]);
  });

  test('what has few letters of it in common is not', async () => {
    expect(await find('Новобранец')).toEqual([]);
    expect(await find('Новость')).toEqual([]);
  });

  test('a word that begins one is found by it, also where another conversation has one that is more alike', async () => {
    await conversationOf(store.sql, 'Новосиб ждёт.');
    await searchMemory(store.sql, { agent: 'reader', query: 'ждёт' });
    expect(await find('Новоси')).toEqual([[SAID.russian, 'similar']]);
  });
});
