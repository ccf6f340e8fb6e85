import { expect, test } from 'vitest';
import { attachedText } from '../../src/context/log/content.ts';
import { titleOf } from '../../src/store/conversations/branches.ts';

const FILE = { type: 'text', text: attachedText('x.txt', 'hello') } as const;
const WORDS = { type: 'text', text: '\nWhat is this?\nSay it.' } as const;

test('a title is the first line of the user, wherever a file stands, or else the name of the file', () => {
  expect(titleOf([FILE, WORDS])).toBe('What is this?');
  expect(titleOf([WORDS, FILE])).toBe('What is this?');
  expect(titleOf([FILE])).toBe('(file x.txt)');
  expect(titleOf([])).toBe('');
});
