import { describe, expect, it } from 'vitest';
import { readableText, readableTexts } from '../../src/context/log/readable-text.ts';

/** As the file would have it. */
const raw = String.raw;

const READ: readonly (readonly [what: string, text: string, readable: string])[] = [
  ['line ends and tabs', raw`{"content":"import os\n\ttimeout = 30"}`, '{"content":"import os\n\ttimeout = 30"}'],
  ['quotation marks and backslashes', raw`{"a":"say \"hi\" in C:\\new"}`, raw`{"a":"say "hi" in C:\new"}`],
  ['an umlaut within a word', raw`{"a":"viele Gr\u00fc\u00dfe an Ada"}`, '{"a":"viele Grüße an Ada"}'],
  ['pairs of surrogates', raw`["\ud83d\ude00 \u4e2d\u6587"]`, '["😀 中文"]'],
  ['signs for a terminal', raw`{"a":"\u001b[1m\bdone"}`, '{"a":" [1m done"}'],
  ['names', raw`{"gr\u00f6\u00dfe":[1.5e3,true,null,{"b":"x\ty"}]}`, '{"größe":[1.5e3,true,null,{"b":"x\ty"}]}'],
  ['one value a line', '{"a":"x\\ny"}\n{"a":"z\\nw"}\n', '{"a":"x\ny"}\n{"a":"z\nw"}\n'],
  ['what is cut off', raw`{"a":"first\nsecond\u00f`, '{"a":"first\nsecond\\u00f'],
  ['what was clipped', '{"a":"x\\ny\\\n[… left out …]\n\\nz\\nw"}', '{"a":"x\ny\\\n[… left out …]\n\nz\nw"}'],
  ['rows', raw`[[1,"x\ny"]]`, '[[1,"x\ny"]]'],
  ['letters that name escapes', raw`["\u006e\\n"]`, raw`["n\n"]`],
];

const LEFT: readonly (readonly [what: string, text: string])[] = [
  ['a Windows path', raw`C:\new\table and D:\temp`],
  ['a regular expression', raw`\d+\n matches "[\t ]\n"`],
  ['a list with a Windows path', raw`["C:\new\dir", "x\ny"]`],
  ['a quotation', raw`"C:\new" is the path`],
  ['a line of a log with JSON', raw`INFO {"a":"x\ny"}`],
  ['a link of a wiki', raw`[[notes\new]]`],
  ['code', raw`const lines = ["x\ny"];`],
];

describe('readableText', () => {
  it.each(READ)('reads in JSON %s', (_, text, readable) => {
    expect(readableText(text)).toBe(readable);
  });

  it.each(LEFT)('leaves %s as it is', (_, text) => {
    expect(readableText(text)).toBe(text);
  });
});

describe('readableTexts', () => {
  it.each(READ)('knows the place in the original behind each text: %s', (_, text, readable) => {
    const { text: said, originalOffset } = readableTexts([text, text]);
    expect(said).toBe(readable + readable);
    expect([readable.length, said.length].map(originalOffset)).toEqual([text.length, 2 * text.length]);
  });

  it('tells where a character stands in the originals, also behind other texts', () => {
    const texts = ['write_file ', raw`{"a":"Gr\u00fc\u00dfe\n\tfrom Ada"}`, '\n', raw`C:\new`, raw`["x\ny"]`];
    const { text: said, originalOffset } = readableTexts(texts);
    const original = texts.join('');
    for (const word of ['write', 'Gr', 'from', 'C:', 'y"]']) {
      expect(originalOffset(said.indexOf(word)), word).toBe(original.indexOf(word));
    }
    expect(originalOffset(said.indexOf('üße'))).toBe(original.indexOf(raw`\u00fc`));
    expect(originalOffset(said.indexOf('ße'))).toBe(original.indexOf(raw`\u00df`));
  });
});
