import { describe, expect, test } from 'vitest';
import { shortArguments } from '../../../../src/cli/render/turn/tool-arguments.ts';

describe('arguments of a tool call on one line', () => {
  test.each([
    ['{"path":"src/a.ts"}', 'src/a.ts'],
    ['{"path":"src/a.ts","offset":20,"limit":10}', 'src/a.ts offset=20 limit=10'],
    ['{"recursive":true}', 'recursive=true'],
    ['{"items":[1,2,3],"more":{"a":1}}', 'items=[3] more={…}'],
    ['{}', ''],
    ['{"path": "src', '{"path": "src'],
    ['[1]', '[1]'],
    ['', ''],
  ])('%s', (json, shown) => {
    expect(shortArguments(json, 100)).toBe(shown);
  });

  test("a file's content is a number of characters", () => {
    const json = JSON.stringify({ path: 'a.md', content: 'x\n'.repeat(1_000) });
    expect(shortArguments(json, 100)).toBe('a.md content=‹2,000 characters›');
  });

  test('escape codes in arguments do not reach the terminal', () => {
    expect(shortArguments(JSON.stringify({ path: 'a\u001b[31m\nb' }), 100)).toBe('a b');
  });

  test('is cut to the columns', () => {
    expect(shortArguments('{"path":"a/very/long/path/to/a/file.ts"}', 12)).toBe('a/very/long…');
  });
});
