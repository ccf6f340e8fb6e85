import { expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

async function find(said: readonly string[], query: string) {
  const { conversationId } = await conversationOf(sql, ...said);
  const found = await searchMemory(sql, { conversationId, query });
  return new Map(found.map(({ text, neighbour }) => [text, neighbour]));
}

it('joins an answer with the question before it, and a question with what was said after it', async () => {
  const said = [
    'The weather is fine.',
    'Which of the pianos do you want?',
    'Yes, the third one.',
    'It is quiet today.',
  ];
  const found = await find(said, 'the third piano that was wanted');
  expect(found.get('Which of the pianos do you want?')).toMatchObject({ says: 'answer', text: 'Yes, the third one.' });
  expect(found.get('Yes, the third one.')).toMatchObject({
    says: 'question',
    text: 'Which of the pianos do you want?',
  });
});

it('leaves statements alone that answer nothing', async () => {
  const found = await find(['The weather is fine.', 'The piano is black.', 'It is quiet today.'], 'piano');
  expect(found.has('The piano is black.')).toBe(true);
  expect(found.get('The piano is black.')).toBeUndefined();
});

it('shows of a long question its end and of a long answer its beginning', async () => {
  const question = `${'As I was saying. '.repeat(40)}Which piano do you want?`;
  const answer = `The third piano. ${'As you know. '.repeat(60)}`;
  const found = await find([question, answer], 'third piano');
  const [first, second] = [...found.entries()].toSorted(
    ([one], [other]) => (one.startsWith('As') ? -1 : 1) - (other.startsWith('As') ? -1 : 1),
  );
  expect(first?.[1]?.text).toMatch(/^The third piano\. .*…$/u);
  expect(second?.[1]?.text).toMatch(/^….*Which piano do you want\?$/u);
  expect(second?.[1]?.text.length).toBeLessThanOrEqual(300);
});
