import { expect, test } from 'vitest';
import { saysFact, searchedText } from '../../src/verify/audit/find-fact.ts';

const RULE = { kind: 'requirement', text: 'You must keep every heron nest closed' } as const;
const SUMMARY = 'Goal: count birds.\nKeep every heron nest closed.\nNothing else.';

test('a requirement is said by a line that has six of ten of its words', () => {
  expect(saysFact(searchedText(SUMMARY, true), RULE)).toBe(true);
  expect(saysFact(searchedText('Count each heron nest.\nKeep the door closed.', true), RULE)).toBe(false);
});

test('a copy says it in its own words only, and so does every text a number', () => {
  expect(saysFact(searchedText(SUMMARY, false), RULE)).toBe(false);
  const number = { kind: 'number', text: '4711' } as const;
  expect(saysFact(searchedText('Nest 4711.', true), number)).toBe(true);
  expect(saysFact(searchedText('Nest 47110, nest a-4711.', true), number)).toBe(false);
});
