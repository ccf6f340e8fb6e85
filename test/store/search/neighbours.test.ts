import { expect, it } from 'vitest';
import { storeAnswer } from '../../../src/store/attempts/model-calls.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { end, go } from '../support/branch-builders.ts';
import {
  answer,
  answerWith,
  continueConversation,
  conversationOf,
  finishToolCall,
  register,
  send,
  text as contentOf,
  toolCall,
  useTestStore,
} from '../support/store-builders.ts';

const { sql } = useTestStore();

async function find(said: readonly string[], query: string) {
  const { conversationId } = await conversationOf(sql, ...said);
  return findIn(conversationId, query);
}

/** What stands beside what is found, by text. */
async function findIn(conversationId: string, query: string) {
  const found = await searchMemory(sql, { conversationId, query });
  return new Map(found.map(({ text, neighbour }) => [text, neighbour]));
}

/** A step that calls a tool twice, as it says something or not. */
async function callTools(turn: TurnReference, callNumber: number, says?: string): Promise<void> {
  const registered = await register(sql, turn, callNumber);
  const calls = [0, 1].map((index) => toolCall(index, 'read_file', '{"path":"tuning.txt"}'));
  const content = [...(says === undefined ? [] : contentOf(says).content), ...calls];
  await storeAnswer(sql, answerWith(turn, callNumber, registered, content));
  for (const index of [0, 1]) await finishToolCall(sql, turn, callNumber, index, contentOf('grand fine, other flat'));
}

const QUESTION = 'Which of the pianos is out of tune?';
const ANSWER = 'The upright one, by a quarter tone.';

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
  const question = `${'As I was saying. '.repeat(40)}Which piano do you want?\n\n`;
  const answer = `The third piano. ${'As you know. '.repeat(60)}`;
  const found = await find([question, answer], 'third piano');
  const [first, second] = [...found.entries()].toSorted(
    ([one], [other]) => (one.startsWith('As') ? -1 : 1) - (other.startsWith('As') ? -1 : 1),
  );
  expect(first?.[1]?.text).toMatch(/^The third piano\. .*…$/u);
  expect(second?.[1]?.text).toMatch(/^….*Which piano do you want\?$/u);
  expect(second?.[1]?.text.length).toBeLessThanOrEqual(300);
});

it.each([
  ['once', ['']],
  ['many times', ['', '', '', '', '', '']],
  ['as the agent told what it looks for', ['Let me look at the list.', '', 'One more file.']],
])('joins a question with its answer where tools were called in between: %s', async (_, steps) => {
  const turn = await conversationOf(sql, 'The hall is cold.', QUESTION);
  for (const [index, says] of steps.entries()) await callTools(turn, index + 1, says === '' ? undefined : says);
  await answer(sql, turn, steps.length + 1, { said: ANSWER });
  await end(sql, turn);
  const byQuestion = await findIn(turn.conversationId, 'which pianos are out of tune');
  expect(byQuestion.get(QUESTION)).toMatchObject({ says: 'answer', text: ANSWER });
  const byAnswer = await findIn(turn.conversationId, 'upright, a quarter tone');
  expect(byAnswer.get(ANSWER)).toMatchObject({ says: 'question', text: QUESTION });
});

it('joins a question with an answer that calls tools itself, and leaves calls alone', async () => {
  const turn = await conversationOf(sql, QUESTION);
  await callTools(turn, 1, ANSWER);
  await callTools(turn, 2);
  await end(sql, turn);
  await send(sql, { conversationId: turn.conversationId, ...contentOf('Go on.') });
  await end(sql, await continueConversation(sql, turn.conversationId));
  const found = await searchMemory(sql, {
    conversationId: turn.conversationId,
    query: 'upright piano out of tune by a quarter tone; tuning.txt',
  });
  const joined = found.map(({ kind, text, neighbour }) => [kind, text.split('\n')[0], neighbour?.text]);
  expect(joined).toContainEqual(['user', QUESTION, expect.stringContaining(ANSWER)]);
  expect(joined).toContainEqual(['assistant', ANSWER, QUESTION]);
  const call = found.find(({ kind, text }) => kind === 'assistant' && !text.startsWith('The upright'));
  expect(call?.text).toContain('tuning.txt');
  expect(call?.neighbour).toBeUndefined();
});

it('shows behind a question what the active branch answers, and names the branch of an answer that was left', async () => {
  const turn = await conversationOf(sql, QUESTION);
  const { conversationId } = turn;
  await callTools(turn, 1, 'Let me look.');
  await answer(sql, turn, 2, { said: 'The grand one.' });
  await end(sql, turn);
  const asked = (await searchMemory(sql, { conversationId, query: QUESTION })).find(({ text }) => text === QUESTION);
  await go(sql, conversationId, { entryId: asked?.entryId ?? null, summarizes: false });
  const left = { says: 'answer', text: 'The grand one.', branch: 0 };
  expect((await findIn(conversationId, QUESTION)).get(QUESTION)).toMatchObject(left);
  await send(sql, { conversationId, ...contentOf('The one in the hall, I mean.') });
  const next = await continueConversation(sql, conversationId);
  await answer(sql, next, 1, { said: ANSWER });
  await end(sql, next);
  const found = await findIn(conversationId, `${QUESTION} The grand one.`);
  expect(found.get(QUESTION)).toEqual({
    says: 'answer',
    entryId: expect.any(String),
    text: 'The one in the hall, I mean.',
  });
  const ofLeft = found.get('The grand one.');
  expect(ofLeft).toEqual({ says: 'question', entryId: asked?.entryId, text: QUESTION });
  await go(sql, conversationId, { branch: 0, summarizes: false });
  expect((await findIn(conversationId, QUESTION)).get(QUESTION)).toEqual({
    says: 'answer',
    entryId: expect.any(String),
    text: 'The grand one.',
  });
});

it('names the branch of a question that was left', async () => {
  const turn = await conversationOf(sql, QUESTION);
  const { conversationId } = turn;
  await answer(sql, turn, 1, { said: ANSWER });
  await end(sql, turn);
  await go(sql, conversationId, { entryId: null, summarizes: false });
  expect((await findIn(conversationId, 'upright quarter tone')).get(ANSWER)).toMatchObject({
    says: 'question',
    text: QUESTION,
    branch: 0,
  });
});
