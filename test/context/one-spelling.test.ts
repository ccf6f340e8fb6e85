import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inOneSpelling, placesOf, spellingOf } from '../../src/context/log/one-spelling.ts';

/** What stands in the text where the form is found. */
const found = (text: string, form: string): string[] =>
  placesOf(form, spellingOf(text)).map(({ from, end }) => text.slice(from, end));

const UMLAUT = 'Mu\u0308ller';

describe('a form in a text of another spelling', () => {
  test.each([
    ['decomposed accents', `${UMLAUT}_Re\u0301sume\u0301.pdf`, 'müller', [UMLAUT]],
    ['both spellings', `Müller, ${UMLAUT}`, 'müller', ['Müller', UMLAUT]],
    ['a form that is decomposed itself', 'Müller', 'mu\u0308ller', ['Müller']],
    ['half-width kana with marks of voice', 'ﾈｺのｻｰﾊﾞｰ', 'サーバー', ['ｻｰﾊﾞｰ']],
    ['half-width Hangul', '\uffa1\uffc2 and', '가', ['\uffa1\uffc2']],
    ['decomposed Hangul', '\u1112\u1161\u11ab\u1100\u116e\u11a8', '한국', ['\u1112\u1161\u11ab\u1100\u116e\u11a8']],
    ['full-width letters', 'the ＡＰＩ.', 'api', ['ＡＰＩ']],
    ['Thai that NFKC takes apart', 'น้ำตก', 'น้\u0e4dา', ['น้ำ']],
    ['a ligature', 'a ﬁle', 'file', ['ﬁle']],
    ['behind a letter that lower case makes longer', 'İİİ heron', 'heron', ['heron']],
    ['a sigma at the end', '… ΛΌΓΟΣ', 'λόγος', ['ΛΌΓΟΣ']],
    [
      'a phrase, whatever white space',
      `the ${UMLAUT}\n re\u0301sume\u0301`,
      'müller résumé',
      [`${UMLAUT}\n re\u0301sume\u0301`],
    ],
    ['places that overlap', 'ﾊﾊﾊ', 'ハハ', ['ﾊﾊ', 'ﾊﾊ']],
    ['an emoji without its selector', '… ❤️', '❤', ['❤️']],
    ['no part of one character', '… 5㎏', 'k', []],
    ['no end of one character', '… 5㎏', 'g', []],
    ['no letter with an accent for one without', 'cafe\u0301', 'cafe', []],
    ['nothing', UMLAUT, '', []],
  ])('%s', (_, text, form, expected) => {
    expect(found(text, form)).toEqual(expected);
  });
});

test('a text in the spelling of the index has all in its place', () => {
  for (const text of ['The API', 'Die Straße für Müller', '数据库连接池', 'Привет', 'น่าน', 'नमस्ते', '한국어', '🦩']) {
    const { text: spelled, original } = spellingOf(text);
    expect(spelled).toBe(text.toLowerCase());
    expect(original({ from: 1, end: text.length })).toEqual({ from: 1, end: text.length });
  }
});

const written = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      ...Array.from('aA ßİΣ.éﾊﾞｶﾟﾈＡ㎏ﬁ…ำน้한국日🦩\u0301\u0308\u200d\ufe0f\u1112\u1161\u11ab\uffa1\uffc2\ud83e'),
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
});

test('what stands in any text is found there, and each place found is spelled as it is in the index', () => {
  fc.assert(
    fc.property(written, fc.nat(40), fc.nat(6), (text, at, length) => {
      const spelling = spellingOf(text);
      expect(spelling.text.length).toBeGreaterThanOrEqual(inOneSpelling(text).length);
      const form = text.slice(at, at + length);
      for (const { from, end } of placesOf(form, spelling)) {
        expect(from).toBeLessThan(end);
        expect(end).toBeLessThanOrEqual(text.length);
        // The end of a word is another sigma.
        const spelled = inOneSpelling(text.slice(from, end)).replaceAll('ς', 'σ');
        const [sought, rest] = [inOneSpelling(form).trim().replaceAll('ς', 'σ'), spelled];
        if (!/\s/u.test(sought)) expect(rest.startsWith(sought)).toBe(true);
      }
    }),
    { numRuns: 400 },
  );
});
