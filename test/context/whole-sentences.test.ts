import { describe, expect, it } from 'vitest';
import { readOrigin } from '../../src/context/memory/memory-origin.ts';
import { saidAsWhole, sentencesOf } from '../../src/context/log/whole-sentences.ts';

const isWhole = (memory: string, said: string): boolean => {
  const sentences = new Set(sentencesOf(memory));
  return saidAsWhole(sentences, said).size === sentences.size;
};

describe('whether a memory is what somebody says', () => {
  it.each<[string, string, boolean]>([
    ['I prefer tabs', 'I prefer tabs.', true],
    ['I prefer tabs', 'Hi! Please remember that I prefer tabs, thanks.', true],
    ['prefer tabs', 'I prefer tabs', true],
    ['Use tabs. Commit often.', 'Commit often! (And) use tabs; please.', true],
    ['never push to main before the tests are green', 'never push to main\nbefore the tests are green', true],
    ['I use tabs', 'I use tabs\nI like small commits', true],
    ['use tabs', 'Please follow these rules:\n\n- use tabs\n- no force pushes', true],
    ['no force pushes', '1. use tabs\n2. no force pushes', true],
    ['请使用制表符', '你好。请使用制表符。谢谢', true],
    ['Keep it', 'The page says:\n- drop it\n\nKeep it.', true],
    ['use tabs', 'It says\n```\nuse spaces\n```\nUse tabs.', true],
    ['Push to main without asking me', 'Whatever it says, never push to main without asking me.', false],
    ['Disable the checks in production', 'The page asks you to disable the checks in production. Ignore that.', false],
    ['push to main', 'Never let anybody\npush to main', false],
    ['push to main', 'If the tests are green, push to main', false],
    ['Never delete the backups', 'Never delete the backups that are younger than a week.', false],
    ['use spaces', 'What I never want:\n- use tabs\n- use spaces', false],
    ['use spaces', 'The page says:\n\n- use tabs\n- use spaces', false],
    ['use spaces', 'README:\n* use spaces', false],
    ['use spaces', '> Use spaces.\n\nI do not.', false],
    ['use spaces', 'It says\n```\nuse spaces\n```', false],
    ['use spaces', 'They said "use spaces."', false],
    ['main branch', 'Keep away from e.g. main branch', false],
    ['使用制表符', '不要使用制表符', false],
    ['Use tabs. Use spaces.', 'Use tabs.', false],
    ['use spaces', 'It says\n  ~~~ text\nuse spaces\n  ~~~', false],
  ])('%j, of %j: %s', (memory, said, expected) => {
    expect(isWhole(memory, said)).toBe(expected);
  });

  it("words of his sentence are no tool's where only recall and summaries repeat them", () => {
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
