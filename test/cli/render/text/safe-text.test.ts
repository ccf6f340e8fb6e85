import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createPainter } from '../../../../src/cli/follow/painter.ts';
import { openOutput, printJson, printRemark } from '../../../../src/cli/output.ts';
import { printable, printableJson, safeLine, safeText } from '../../../../src/cli/render/text/safe-text.ts';

describe('text of a model or a tool on a terminal', () => {
  test('cannot move the cursor, set the title or ring the bell', () => {
    expect(safeText('a\u001b[2Jb\u001b]0;title\u0007c\u0007d\u009b31me\u0000')).toBe('abcde');
  });

  test('cannot show a line as another than it is', () => {
    expect(safeText('safe\u202eexe.txt\u2066')).toBe('safe\\u{202e}exe.txt\\u{2066}');
    expect(safeText('progress 10 %\rprogress 20 %')).not.toContain('\r');
  });

  test('keeps line breaks and turns tabs into spaces', () => {
    expect(safeText('a\r\nb\tc\n')).toBe('a\nb    c\n');
  });

  test('shows lone surrogates as a replacement', () => {
    expect(safeText('a\ud800b')).toBe('a\ufffdb');
    expect(safeText('🚀')).toBe('🚀');
  });

  test('never lets a control character through', () => {
    fc.assert(
      fc.property(fc.uint16Array({ maxLength: 80 }), (units) => {
        const text = String.fromCharCode(...units);
        expect(safeText(text)).not.toMatch(/[^\P{Control}\n]/u);
      }),
    );
  });

  const UNSEEN = [
    ...Array.from(
      '\u200e\u200f\u061c\u200b\u200c\u200d\u2060\u2061\u2064\u2066\u2069\u202a\u202e\ufeff\u00ad\u034f\u115f\u3164\ufe0f\ufff9\ufffb\u2028',
    ),
    '\u{e0001}',
    '\u{e0041}',
    '\u{e007f}',
    '\u{e0100}',
    '\u{1d173}',
  ];

  test.each(UNSEEN)('writes out %j, which nobody sees', (character) => {
    const written = `\\u{${character.codePointAt(0)?.toString(16)}}`;
    expect(safeText(`rm${character} -r`)).toBe(`rm${written} -r`);
    expect(safeText(`שלום${character}`)).toBe(`שלום${written}`);
  });

  test.each([
    '👩‍💻',
    '👨‍👩‍👧',
    '🏳️‍🌈',
    '👩🏽‍🚀',
    '❤️‍🔥',
    '1️⃣',
    '☎︎',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
    'می‌خواهم',
    'ශ්‍රී',
    'עברית',
    'العربية',
  ])('shows %s as it is', (text) => expect(safeText(`a ${text} b`)).toBe(`a ${text} b`));

  test('hides nothing in what looks like an emoji or a word', () => {
    for (const text of [
      '👩\u200d\u200dx',
      '👩\u200dx',
      'x\u200d👩',
      '🏴\u{e0068}\u{e0069}\u{e007f}',
      'a\ufe0f',
      'م\u200cx',
    ])
      expect(safeText(text)).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
  });

  test('what is printed is looked at once more, whoever composed it; colours stay', () => {
    const line = `\u001b[1mtitle\u001b[22m \u001b[8mhidden\u001b]0;t\u0007 \u202e\r\n`;
    expect(printable(line)).toBe('\u001b[1mtitle\u001b[22m \\u{1b}[8mhidden\\u{1b}]0;t\\u{7} \\u{202e}\\u{d}\n');
  });

  test('JSON is read back as it was, and holds nothing that is not seen', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom(...UNSEEN, '👩‍💻', '\u0085', '\ud800'),
        (text, unseen) => {
          const json = printableJson(JSON.stringify({ [text + unseen]: unseen }));
          expect(JSON.parse(json)).toEqual({ [text + unseen]: unseen });
          expect(json).not.toMatch(/[\p{Control}\p{Format}\p{Default_Ignorable_Code_Point}\p{Surrogate}]/u);
        },
      ),
    );
  });

  test('safeLine is one line', () => {
    expect(safeLine('  a\n\n b\tc ')).toBe('a b c');
  });
});

describe('what a command prints', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('has nothing that is not seen, on whichever way it is printed', () => {
    const printed: string[] = [];
    for (const stream of [process.stdout, process.stderr])
      vi.spyOn(stream, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    const output = openOutput({ plain: true });
    const foreign = 'tool\u202e\u200b\u0007\u{e0041}';
    const painter = createPainter({ write: (text) => printed.push(text), columns: 80 });
    output.line(foreign);
    output.lines([foreign, foreign]);
    output.json({ [foreign]: foreign });
    output.remark(foreign);
    printJson(foreign);
    printRemark(foreign);
    painter.commit([foreign]);
    painter.paint([foreign]);
    painter.close();
    vi.restoreAllMocks();
    expect(printed.join('').split('tool').length - 1).toBe(10);
    for (const unseen of Array.from('\u202e\u200b\u0007\u{e0041}')) expect(printed.join('')).not.toContain(unseen);
  });
});
