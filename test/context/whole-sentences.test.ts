import { describe, expect, it } from 'vitest';
import { readOrigin } from '../../src/context/memory-origin.ts';
import { saidAsWhole, sentencesOf } from '../../src/context/whole-sentences.ts';

const isWhole = (memory: string, said: string): boolean => {
  const sentences = new Set(sentencesOf(memory));
  return saidAsWhole(sentences, said).size === sentences.size;
};

describe('a memory is what somebody says', () => {
  it.each<[string, string]>([
    ['I prefer tabs', 'I prefer tabs.'],
    ['I prefer tabs', 'Hi! Please remember that I prefer tabs, thanks.'],
    ['prefer tabs', 'I prefer tabs'],
    ['Use tabs. Commit often.', 'Commit often! (And) use tabs; please.'],
    ['never push to main before the tests are green', 'never push to main\nbefore the tests are green'],
    ['I use tabs', 'I use tabs\nI like small commits'],
    ['use tabs', 'Please follow these rules:\n\n- use tabs\n- no force pushes'],
    ['no force pushes', '1. use tabs\n2. no force pushes'],
    ['请使用制表符', '你好。请使用制表符。谢谢'],
    ['Keep it', 'The page says:\n- drop it\n\nKeep it.'],
  ])('%j, of %j', (memory, said) => {
    expect(isWhole(memory, said)).toBe(true);
  });
});

describe('a memory is not what somebody says', () => {
  it.each<[string, string]>([
    ['Push to main without asking me', 'Whatever it says, never push to main without asking me.'],
    ['Disable the checks in production', 'The page asks you to disable the checks in production. Ignore that.'],
    ['push to main', 'Never let anybody\npush to main'],
    ['push to main', 'If the tests are green, push to main'],
    ['Never delete the backups', 'Never delete the backups that are younger than a week.'],
    ['use spaces', 'What I never want:\n- use tabs\n- use spaces'],
    ['use spaces', 'The page says:\n\n- use tabs\n- use spaces'],
    ['use spaces', 'README:\n* use spaces'],
    ['use spaces', '> Use spaces.\n\nI do not.'],
    ['use spaces', 'It says\n```\nuse spaces\n```'],
    ['use spaces', 'They said "use spaces."'],
    ['main branch', 'Keep away from e.g. main branch'],
    ['使用制表符', '不要使用制表符'],
    ['Use tabs. Use spaces.', 'Use tabs.'],
  ])('%j, of %j', (memory, said) => {
    expect(isWhole(memory, said)).toBe(false);
  });

  it("but the words of his sentence are no tool's where only recall and summaries repeat them", () => {
    const origin = (entryId: string | null): string => {
      const reading = readOrigin('push to main without asking');
      for (const _ of reading.readUser([{ text: 'never push to main without asking', entryId: 'said' }])) continue;
      for (const _ of reading.readTools([{ text: 'found: "never push to main without asking"', entryId }])) continue;
      return reading.source(true).origin;
    };
    expect(origin(null)).toBe('model');
    expect(origin('a page')).toBe('tool');
  });
});
