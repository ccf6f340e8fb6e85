import { beforeAll, describe, expect, it, test } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import type { ActivityDependencies } from '../../../src/activities/runtime/dependencies.ts';
import { recallOf } from '../../../src/activities/tool/tool-context.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

/** As macOS lists them. */
const LISTED = `${Array.from({ length: 30 }, (_, index) => `notes/page-${index}.txt`).join('\n')}\nMu\u0308ller_Re\u0301sume\u0301.pdf`;

/** What is said in a conversation, and queries with the places of what they find. */
const FOUND: Readonly<Record<string, { readonly said: readonly string[]; readonly found: string }>> = {
  'by its emoji': {
    said: ['🦩', 'A flamingo 🦩 stood there.', 'Nice 👍🏽 work', 'To 🇳🇴 on Monday', '👩‍🚀 she is', '🎉 Hooray', '🇳🇿'],
    found: '🦩: 0 1, "🦩": 0 1, 👍: 2, 👍🏽: 2, 🇳🇴: 3, 🚀: 4, 👩‍🚀: 4, 🎉: 5, 🦄: , 🇩🇪: ',
  },
  'by letters as who lacks them on the keyboard writes them': {
    said: [
      'Met in Łódź.',
      'Smørrebrød.',
      'Die Straße ist nicht lang, und das ist gut für mich.',
      'A cœur',
      'Þór called.',
    ],
    found: 'Lodz: 0, Łódź: 0, smorrebrod: 1, smørrebrød: 1, Strasse: 2, STRASSE: 2, straße: 2, coeur: 3, Thor: 4',
  },
  'in another spelling of the same letters': {
    said: [LISTED, '白いﾈｺがいる', 'The ＡＰＩ is down', 'Zoë met Zoe\u0308', 'Only what is plain'],
    found: 'Müller résumé: 0, ネコ: 1, api: 2, "Zoë": 3, "zoe\u0308 met": 3, "ＰＬＡＩＮ": 4',
  },
  'with two letters in the wrong order': {
    said: [
      'She speaks three languages.',
      'Her work is done.',
      'Running early',
      'Переезд в город',
      'It came from afar.',
    ],
    found: 'lnaguages: 0, LNAGUAGES: 0, wrok: 1, urnning: 2, runnign: 2, оргод: , огрод: 3, teh: , form: , eht work: 1',
  },
  'misspelt, in whatever script': {
    said: [
      'Переезд в Новосибирск назначен на весну.',
      'Το συνέδριο γίνεται στη Θεσσαλονίκη την άνοιξη.',
      'Գարնանը տեղափոխվում ենք Վանաձոր քաղաքը։',
      'The Kubernetes cluster was moved in spring.',
    ],
    found: 'Новосибирк: 0, новосибрск: 0, Новобранец: , Новость: , Новоси: 0, Θεσαλονίκη: 1, Վանձոր: 2, kuberntes: 3',
  },
};

describe.each(Object.entries(FOUND))('what was said is found %s', (_, { said, found: wanted }) => {
  let conversationId: string;
  beforeAll(async () => {
    ({ conversationId } = await conversationOf(sql, ...said));
  });

  test.each(wanted.split(', ').map((each) => each.split(': ')))('%s', async (query = '', places = '') => {
    const found = await searchMemory(sql, { conversationId, query });
    const order = (one: number, other: number): number => one - other;
    expect(
      found
        .map(({ text }) => said.indexOf(text))
        .toSorted(order)
        .join(' '),
    ).toBe(places);
  });
});

it('says how a word was found: as it is, in another spelling, or as one like it', async () => {
  const { conversationId } = await conversationOf(
    sql,
    'Zoë met Zoe\u0308 at the market.',
    'The 🦩 sleeps.',
    '白いﾈｺがいる',
  );
  const first = async (query: string) => (await searchMemory(sql, { conversationId, query }))[0];
  expect(await first('"zoe\u0308 met"')).toMatchObject({ match: 'phrase', forms: expect.arrayContaining(['zoë met']) });
  expect(await first('markets')).toMatchObject({ match: 'words', forms: ['market'] });
  expect(await first('marekt')).toMatchObject({ match: 'similar' });
  expect(await first('🦩')).toMatchObject({ forms: ['🦩'] });
  expect(await first('"the 🦩 sleeps"')).toMatchObject({ match: 'phrase' });
  expect(await first('"白いネコ"')).toMatchObject({ match: 'phrase', forms: expect.arrayContaining(['白いネコ']) });
});

it.each(['サーバーはどこですか', 'ｻｰﾊﾞｰはどこですか'])(
  'keeps the characters of a loanword together: %s',
  async (query) => {
    const said = [
      'サーバーは大阪のデータセンターにあります。',
      'ｻｰﾊﾞｰは地下です。',
      'サラダバーのサービスはカレーとスープです。',
      'バーベキューはサッカーの後です。',
    ];
    const { conversationId } = await conversationOf(sql, ...said);
    const found = await searchMemory(sql, { conversationId, query });
    expect(new Set(found.slice(0, 2).map(({ text }) => said.indexOf(text)))).toEqual(new Set([0, 1]));
  },
);

test('words like a misspelt one are looked for in all conversations of an agent, the words of other agents left aside', async () => {
  const { conversationId } = await conversationOf(sql, 'Zebras graze.');
  await conversationOf(sql, 'Lions rest.');
  // A search stops indexing after half a second.
  await indexConversation(sql, conversationId);
  const found = await searchMemory(sql, { agent: 'reader', query: 'ezbras' });
  expect(found.map((each) => each.conversationId)).toEqual([conversationId]);
  expect(await searchMemory(sql, { agent: 'another', query: 'ezbras' })).toEqual([]);
});

test('the message that the turn answers is not found, and its misspelt words are known for such', async () => {
  const cluster = 'The Kubernetes cluster was moved to Frankfurt in spring.';
  const { conversationId } = await conversationOf(sql, cluster, 'Lunch was late.', 'where is the Kuberntes thing?');
  const memory = recallOf({ database: sql, embedder: null } as unknown as ActivityDependencies, conversationId);
  const found = await memory.search('Kuberntes', 5);
  expect(found.map(({ text, match }) => [text, match])).toEqual([[cluster, 'similar']]);
});

test('of hundreds of copies of a short text the newest is found, and what says more beside it', async () => {
  const reasons = ['disk', 'cable', 'licence', 'certificate', 'password'];
  const textOf = (index: number): string =>
    reasons[index] === undefined
      ? 'pipeline failed'
      : `the pipeline failed because of the ${reasons[index]}, as was said on a long day in the cellar by all who were there`;
  const { conversationId, entryIds } = await loadEntries(sql, 305, textOf);
  const found = await searchMemory(sql, { conversationId, query: 'pipeline failed' });
  expect(found).toHaveLength(6);
  expect(found.find(({ text }) => text === 'pipeline failed')?.entryId).toBe(entryIds.at(-1));
});

/** The common words of a team's talk, more than a search looks for. */
const COMMON =
  'meeting budget garden kitchen harbor window teacher river engine market bridge village painter doctor summer winter forest mountain ticket letter orange yellow purple silver copper timber marble cotton leather basket bottle candle carpet ceiling chimney curtain'.split(
    ' ',
  );
const STOPS = 'and now we have to do that with him for you as it was before they did it there';
const TRACE = Array.from(
  { length: 12 },
  (_, line) => `at Handler${line}.invoke${line}x (lib/frame${line}.js:${line}07:3)`,
);

test('the telling word of a long question counts wherever it stands', async () => {
  const talk = COMMON.flatMap((word) => [1, 2, 3].map((number) => `Somebody spoke of the ${word} ${number}.`));
  const said = talk.toSpliced(60, 0, 'The zebrafish tank leaks.');
  const { conversationId } = await loadEntries(sql, said.length, (line) => said[line] ?? '');
  for (const query of [
    `zebrafish ${COMMON.join(' ')} ${STOPS}`,
    `${COMMON.join(' ')} ${STOPS} zebrafish`,
    `${TRACE.join('\n')}\nzebrafish`,
  ])
    expect((await searchMemory(sql, { conversationId, query }))[0]?.text, query).toBe('The zebrafish tank leaks.');
});

test('finds what was said in the year that the question names', async () => {
  const bought = [2024, 2025, 2026].map((each) => `[9 May ${each}] Ada: I bought something for the garden`);
  const { conversationId } = await conversationOf(sql, ...bought);
  for (const [asked, year] of [
    ['last year', '2025'],
    ['two years ago', '2024'],
    ['this year', '2026'],
  ]) {
    const query = `what did Ada buy ${asked}`;
    const [first] = await searchMemory(sql, { conversationId, query, askedAt: '2026-06-20T10:00:00.000Z' });
    expect(first?.text, query).toContain(year);
  }
});
