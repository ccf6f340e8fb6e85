import { describe, expect, it } from 'vitest';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import type { LoadedKind } from '../../../dev/bench/memory/load-entries.ts';
import { statementOf } from '../../../src/store/search/passage-text.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

async function search(conversationId: string, query: string, limit = 10) {
  return (await searchMemory(sql, { conversationId, query, limit })).map(({ text }) => text);
}

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
