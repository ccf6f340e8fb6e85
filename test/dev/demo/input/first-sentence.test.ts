import { describe, expect, it } from 'vitest';
import { firstSentence } from '../../../../dev/demo/input/first-sentence.ts';

describe('firstSentence', () => {
  it('skips headings, badges, images, quotes and code in front of the first paragraph', () => {
    const readme = [
      '# name [![build][badge]][link]',
      '',
      '[![npm](https://img.example/a.svg)](https://npm.example)',
      '![logo](logo.png)',
      '',
      '> A slogan.',
      '',
      '```sh',
      'npm install name',
      '```',
      '',
      'Parses things quickly. And more.',
    ].join('\n');
    expect(firstSentence(readme)).toBe('Parses things quickly.');
  });

  it('joins the lines of a paragraph and ends at the first full stop before white space', () => {
    expect(firstSentence('# x\n\nWorks with Node.js\n20 and later! Also others.')).toBe(
      'Works with Node.js 20 and later!',
    );
  });

  it('takes a paragraph without a full stop as one sentence', () => {
    expect(firstSentence('# x\n\nA connection pool for databases\n\nMore.')).toBe('A connection pool for databases');
  });

  it.each([
    ['HTML over several lines before it', '<p>\nHello there, reader.\n</p>\n\nParses things quickly.'],
    ['a heading without an empty line behind it', '# x\nParses things quickly.'],
    ['an underlined heading', 'Some long title\n===============\n\nParses things quickly.'],
    ['a list right behind the words', 'It does these things\n- one\n- two'],
    ['an announcement of what follows', '# x\n\nThis library provides the following:\n\n- one'],
    ['half a link', '# x\n\nParses [things](https://example.com/a b) quickly.'],
    ['a badge as its only words', '# x\n\nv1.2'],
    ['an abbreviation at the end', '# x\n\nParses several things, e.g. numbers.'],
    ['nothing but headings', '# x\n\n## y'],
  ])('gives no answer for %s', (_case, readme) => {
    expect(firstSentence(readme)).toBeNull();
  });
});
