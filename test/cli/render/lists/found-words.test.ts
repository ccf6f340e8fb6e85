import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formsIn, setOff } from '../../../../src/cli/render/lists/found-words.ts';

const shown = (text: string, forms: readonly string[]): string => setOff(text, forms, (found) => `<${found}>`);

describe('what was found is set off', () => {
  test.each([
    [
      'in decomposed accents',
      'Mu\u0308ller_Re\u0301sume\u0301.pdf',
      ['müller'],
      '<Mu\u0308ller>_Re\u0301sume\u0301.pdf',
    ],
    ['in half-width kana', '白いﾈｺと', ['ネコ'], '白い<ﾈｺ>と'],
    ['in full-width letters', '新ＡＰＩを', ['api'], '新<ＡＰＩ>を'],
    ['by overlapping pairs of a script without spaces', '数据库连接池', ['数据', '据库'], '<数据库>连接池'],
    ['by pairs side by side', '数据连接池', ['数据', '连接'], '<数据连接>池'],
    ['by a phrase and its words', 'So The Port is 5433', ['port', 'the port is'], 'So <The Port is> 5433'],
    ['with all of an emoji', 'an 👩🏽‍🚀 flew', ['👩'], 'an <👩🏽‍🚀> flew'],
    ['with the marks of what it ends in', 'ที่นี่', ['ที'], '<ที่>นี่'],
    ['beside a script without spaces', '调用API的', ['api'], '调用<API>的'],
    ['not within a word behind an accent', 'cafe\u0301check', ['check'], 'cafe\u0301check'],
    ['not within a word before an accent', 'checke\u0301r', ['check'], 'checke\u0301r'],
    ['not within a word before an accent that no letter joins', 'x\u0302yz', ['x'], 'x\u0302yz'],
    ['not without its accent', 'the cafe\u0301', ['cafe'], 'the cafe\u0301'],
    ['not within a full-width word', 'ＡＰＩＳ', ['api'], 'ＡＰＩＳ'],
  ])('%s', (_, text, forms, expected) => {
    expect(shown(text, forms)).toBe(expected);
  });
});

test('the forms that stand in a row are named as they were asked for', () => {
  expect(formsIn('Mu\u0308ller ﾈｺ', ['müller', 'ネコ', 'api'])).toEqual(new Set(['müller', 'ネコ']));
});

const units = fc.constantFrom(
  ...Array.from('abA .éßİ日本🦩'),
  'u\u0308',
  '\u0301',
  'ﾊﾞ',
  'ﾈ',
  'Ａ',
  '👩🏽‍🚀',
  'ที่',
  '\u1112\u1161\u11ab',
  '\ud83e',
  '\r\n',
);
const anyText = fc.string({ unit: units, maxLength: 40 });
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

test('of any text and words the pieces joined are the text, and each begins and ends with a whole character', () => {
  fc.assert(
    fc.property(
      anyText,
      fc.array(fc.oneof(anyText, fc.string({ unit: units, maxLength: 3 })), { maxLength: 4 }),
      (text, forms) => {
        const pieces: string[] = [];
        const marked = setOff(text, forms, (found) => {
          pieces.push(found);
          return `⟦${found}⟧`;
        });
        expect(marked.replaceAll(/[⟦⟧]/gu, '')).toBe(text);
        const bounds = new Set([...characters.segment(text)].map(({ index }) => index)).add(text.length);
        let place = 0;
        for (const part of marked.split(/[⟦⟧]/u)) {
          expect(bounds).toContain(place);
          place += part.length;
        }
        expect(pieces).not.toContain('');
      },
    ),
    { numRuns: 2_000 },
  );
});
