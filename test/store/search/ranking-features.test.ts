import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import type { LoadedKind } from '../../../dev/bench/memory/load-entries.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import { searchMemory, indexConversation } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';
import { askOfTwoFacts } from '../support/two-facts.ts';
import { statementOf } from '../../../src/store/search/passage-text.ts';

const { sql } = useTestStore();
const BETWEEN = ['Lunch was late.', 'The printer needs paper.', 'Nobody answered.', 'It rained.'];

async function search(conversationId: string, query: string, limit = 10) {
  return (await searchMemory(sql, { conversationId, query, limit })).map(({ text }) => text);
}

describe('of passages with the same words', () => {
  it('one that names nobody of the query goes below one that does', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'Otto Brandt adores pottery.',
      'Somebody adores pottery greatly pottery.',
      'Otto Brandt sails.',
      'Otto Brandt cooks.',
      'Otto Brandt reads.',
      'Otto Brandt sings.',
    );
    expect((await search(conversationId, 'what pottery does that Otto adore'))[0]).toBe('Otto Brandt adores pottery.');
  });

  it('one that asks goes below one that states', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'Grandpa bought some old pear trees there Mia says',
      ...BETWEEN,
      'Do foggy mornings make pear trees smell lovely Otto?',
    );
    expect((await search(conversationId, 'pear trees'))[0]).toContain('Grandpa');
  });

  it('three at most are of one entry before all else; its others fill up what is wanted', async () => {
    const part = (number: number): string =>
      `The numbat digs here, says page ${number}. ${`word${number} `.repeat(150)}`;
    const { conversationId } = await conversationOf(
      sql,
      Array.from({ length: 8 }, (_, number) => part(number)).join('\n\n'),
      'Thanks.',
      'Nobody has ever seen a numbat that digs, not here and not in the far and dry country behind the hills of the south.',
    );
    const [pages, , nobody] = (await listEntries(sql, { conversationId })).map(({ id }) => id);
    const find = async (limit: number) =>
      (await searchMemory(sql, { conversationId, query: 'numbat digs page', limit })).map(({ entryId }) => entryId);
    const four = await find(4);
    expect(four.filter((id) => id === pages)).toHaveLength(3);
    expect(four).toContain(nobody);
    const all = await find(20);
    expect(all.filter((id) => id === pages)).toHaveLength(8);
    expect(all.slice(0, 4).toSorted()).toEqual(four.toSorted());
  });

  it('one about all the people of a query goes below one that says what is asked of one of them', async () => {
    const people = [
      'Ada Lind sails.',
      'Ada Lind cooks.',
      'Ada Lind repairs clocks.',
      'Bo Falk bakes.',
      'Bo Falk reads.',
    ];
    const others = ['Bo Falk swims.', 'Cy Moss sings.', 'Cy Moss dances.'];
    const [all, one] = ['Ada Lind, Bo Falk and Cy Moss hike.', 'Cy Moss paints big landscapes.'];
    const hall = 'Landscapes hang in the hall.';
    const texts = [all, ...BETWEEN, one, ...BETWEEN, hall, ...BETWEEN, ...people, ...others];
    const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
    const found = await search(conversationId, 'who of Ada Lind, Bo Falk and Cy Moss paints landscapes');
    expect(found.slice(0, 2)).toEqual([one, all]);
  });

  it('words that make a question tell less than other stop words', async () => {
    const texts = ['which why how', ...BETWEEN, 'under these clouds', ...BETWEEN, 'stone'];
    const { conversationId } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
    const found = await search(conversationId, 'why which under');
    expect(found.slice(0, 2)).toEqual(['under these clouds', 'which why how']);
  });
});

describe('of two facts', () => {
  it.each([
    ['Ada: My favorite color is blue.', 'Ada: Green is my favorite color these days.', "What is Ada's favorite color?"],
    [
      'The staging database listens on port 5433.',
      'We changed the staging database port to 6000.',
      'Which port does the staging database use?',
    ],
    [
      'The deploy key is called alpha-7.',
      'Correction: the deploy key is beta-9, not alpha-7.',
      'What is the deploy key called?',
    ],
    ['The deploy key is called alpha-7.', 'The deploy key is called beta-9.', 'What is the deploy key called?'],
    ['Ada: My dog is called Rex.', 'Ada: I renamed my dog, he is Bruno now.', "What is the name of Ada's dog?"],
    ['Ben: The meeting is on Tuesday at 10.', 'Ben: The meeting got pushed to Thursday at 3.', 'When is the meeting?'],
    [
      'Ich wohne in Hamburg und arbeite bei der Bank.',
      'Ich wohne jetzt in Berlin und arbeite bei der Post.',
      'Wo wohne ich?',
    ],
    ['Le serveur est à Paris.', 'Nous avons déplacé le serveur à Lyon.', 'Où est le serveur ?'],
    [
      'I live in Paris with my family.',
      'Correction: I moved to Berlin last week, I no longer live in Paris.',
      'Where do I live?',
    ],
    ['My favourite colour is green.', 'FYI: my favourite colour is blue.', 'What is my favourite colour?'],
    ['We deploy on Fridays at noon.', '**Note:** we deploy on Mondays, no longer on Fridays.', 'When do we deploy?'],
  ])('%j goes below %j', async (older, newer, query) => {
    expect(await askOfTwoFacts(sql, { older, newer, query })).toEqual({ isNewerFirst: true });
  });

  it('the one that was said later goes first, by the times at their heads where they name any', async () => {
    const [older, newer] = [
      '[10:00 am on 9 March, 2021] The boiler is set to 50.',
      '[10:00 am on 9 May, 2021] The boiler is set to 60.',
    ];
    expect(
      await askOfTwoFacts(sql, { older, newer, query: 'What is the boiler set to?' }, { isImported: true }),
    ).toEqual({
      isNewerFirst: true,
    });
  });
});

describe('a turn that tells and then asks back is no question, however people end their sentences', () => {
  it.each([
    ['two marks', 'Ana: I got the job at the bakery!! Can you believe it?'],
    ['dots', 'Ana: I got the job at the bakery... Can you believe it?'],
    ['dots, in small letters', 'Ana: i got the job at the bakery… can you believe it?'],
    ['capitals', 'Ana: I got the job at the bakery in NYC. Can you believe it?'],
    ['a smiley', 'Ana: I got the job at the bakery :) Can you believe it?'],
    ['an emoji', 'Ana: I got the job at the bakery 🎉 Can you believe it?'],
    ['a quotation mark', 'Ana: "I got the job at the bakery!" Can you believe it?'],
  ])('%s', (_, text) => {
    expect(isAsking(text, ['job', 'bakery'])).toBe(false);
    expect(isAsking(text, ['believe'])).toBe(true);
  });

  it.each([
    ['a title', 'Ana: Is the job at the bakery of Dr. Meyer still open?'],
    ['an initial', 'Ana: Do you know the U.S. bakery of the job?'],
    ['a smiley within it', 'Ana: Is the job :) at the bakery open?'],
    ['a quoted question', 'Ana: Did they say "why?" about the job at the bakery?'],
  ])('one question is one sentence: %s', (_, text) => {
    expect(isAsking(text, ['job', 'bakery'])).toBe(true);
  });
});

/** Whether the sentence with most of these words asks. */
function isAsking(text: string, words: readonly string[]): boolean {
  return statementOf(
    text,
    words.map((word) => ({ terms: [word], weight: 1 })),
  ).isQuestion;
}

it('words that a word nobody said happens to be a part of do not stand for it', async () => {
  const flat = Array.from(
    { length: 12 },
    (_, index) => `Ana: My apartment needs a start, part ${index} of the charter.`,
  );
  const painting = 'Ana: I spent Sunday painting by the river.';
  const { conversationId } = await conversationOf(sql, painting, ...flat, 'Ben: Fine.');
  expect((await search(conversationId, 'What art does Ana do?'))[0]).toBe(painting);
});

it('the end of a longer word, and a part of an identifier, still stand for one that nobody said', async () => {
  const { conversationId } = await conversationOf(
    sql,
    'We went to the supermarket.',
    'See retry_art_9 for that.',
    'It rained.',
  );
  expect((await search(conversationId, 'market'))[0]).toBe('We went to the supermarket.');
  expect((await search(conversationId, 'art'))[0]).toBe('See retry_art_9 for that.');
});

it('a turn in another language makes no stop words of English words and names', async () => {
  const about = 'The son of Ben is called Max.';
  const { conversationId } = await conversationOf(
    sql,
    about,
    'Jij en ik zijn niet met de trein naar het werk, maar wij hebben ook een fiets',
    'No sé dónde está el archivo que buscas, pero lo tengo en la casa',
    'The weather is what it is.',
    'It was called off, they called and called.',
  );
  const [first] = await searchMemory(sql, { conversationId, query: 'What is the son called?', limit: 3 });
  expect(first?.text).toBe(about);
  // Of stop words alone nothing is said to match by.
  const [named] = await searchMemory(sql, { conversationId, query: 'and what of Ben', limit: 3 });
  expect(named?.text).toBe(about);
});

describe('what asks for a thing', () => {
  it('does not go above what told of it before, as its news would', async () => {
    const told = 'Ana: We went to the beach at Sitges with the kids.';
    const { conversationId } = await conversationOf(
      sql,
      told,
      'Ben: Lunch was late.',
      'Ben: It rained.',
      'Ana: Are you going to the beach with the kids?',
      'Ben: Nobody answered.',
    );
    expect((await search(conversationId, 'Where did Ana go to the beach with the kids?'))[0]).toBe(told);
  });
});

it('of many later turns that are alike no more than a few go above the one that answers best', async () => {
  const told = 'Ana: My sister plays the cello in the Lisbon city orchestra.';
  const later = Array.from(
    { length: 14 },
    (_, index) => `Ana: My sister plays the cello, concert ${index + 1} was on.`,
  );
  const { conversationId } = await conversationOf(sql, told, ...later);
  const found = await search(conversationId, 'Which orchestra does the sister of Ana play the cello in?');
  expect(found.indexOf(told)).toBeGreaterThanOrEqual(0);
});

it('the answer of a short question is found by the question that it follows', async () => {
  const talk = ['Where do you work these days?', 'At the bakery on Elm Street!', 'Nice.', 'It rains.'];
  const kinds: readonly LoadedKind[] = ['user', 'assistant'];
  const { conversationId } = await loadEntries(
    sql,
    talk.length,
    (at) => talk[at] ?? '',
    undefined,
    (at) => kinds[at % 2] ?? 'user',
  );
  await indexConversation(sql, conversationId);
  expect(await search(conversationId, 'Where does Ana work?')).toContain('At the bakery on Elm Street!');
  expect(await search(conversationId, 'work')).not.toContain('At the bakery on Elm Street!');
});
