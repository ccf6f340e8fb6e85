import { describe, expect, test } from 'vitest';
import { onlyOne, shortId } from '../../src/cli/find-conversation.ts';

const one = { conversationId: '01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab', title: 'Read the files' };
const other = { conversationId: '01981f3c-5a2e-7d10-8c44-000000000001', title: 'Write\u001b[31m a poem' };

describe('a conversation by a part of its id', () => {
  test('is found when only one fits', () => {
    expect(onlyOne([one], '22ab')).toBe(one.conversationId);
  });

  test('is refused with the candidates when more fit, their titles made safe', () => {
    expect(() => onlyOne([one, other], '0198')).toThrow(/fits 2 conversations:[^]*Read the files[^]*Write a poem/u);
  });

  test('says what to do when none fits', () => {
    expect(() => onlyOne([], 'nope')).toThrow('begins or ends with "nope"');
  });

  test('the short id is the end, which neighbours in time do not share', () => {
    expect(shortId(one.conversationId)).toBe('4f1c22ab');
  });
});
