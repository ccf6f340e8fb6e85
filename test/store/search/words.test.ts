import { describe, expect, it } from 'vitest';
import { foldAccents, wordsOf } from '../../../src/store/search/words.ts';

describe('wordsOf', () => {
  it.each<[string, string[]]>([
    ['Hello, world! Hello', ['hello', 'world', 'hello']],
    ['src/store/errors.ts', ['src/store/errors.ts', 'src', 'store', 'errors', 'ts']],
    ['readFitCheck', ['readfitcheck', 'read', 'fit', 'check']],
    ['HTTPServer2', ['httpserver2', 'http', 'server', '2']],
    ['snake_case', ['snake_case', 'snake', 'case']],
    ['v1.2.3', ['v1.2.3', 'v1', '2', '3', 'v', '1']],
    ['Café ÜBER', ['café', 'über']],
    ['明天开会', ['明天', '天开', '开会']],
    ['猫', ['猫']],
    ['サーバー', ['サー', 'ーバ', 'バー']],
    ['ｻｰﾊﾞｰ', ['サー', 'ーバ', 'バー']],
    ['ﾡￂ', ['가']],
    ['open 文件.txt now', ['open', '文件', 'txt', 'now']],
    ["don't ask Anna's O'Neill", ['don', 'ask', 'anna', 'o', 'neill']],
    ['Zu\u0308rich-re\u0301sume\u0301.txt', ['zürich-résumé.txt', 'zürich', 'résumé', 'txt']],
    ['\u110c\u1175\u11b8 집', ['집', '집']],
    ['हिन्दी भाषा', ['हिन्दी', 'भाषा']],
    ['วันที่', ['วั', 'ัน', 'นท', 'ที', 'ี่']],
    ['', []],
    ['!!! --- ...', []],
  ])('of %j are %j', (text, words) => {
    expect(wordsOf(text).map((word) => word.text)).toEqual(words);
  });

  it('stand at places, the parts of an identifier at that of the whole', () => {
    expect(wordsOf('call readFile now').map(({ text, position }) => `${text} ${position}`)).toEqual([
      'call 1',
      'readfile 2',
      'read 2',
      'file 2',
      'now 3',
    ]);
  });

  it('are plain when a dictionary may know them', () => {
    const plain = wordsOf('Häuser x2 明天 a_b').filter(({ isPlain }) => isPlain);
    expect(plain.map(({ text }) => text)).toEqual(['häuser', 'x', 'a', 'b']);
  });

  it('of a run without end are its beginning', () => {
    expect(wordsOf('a1'.repeat(40))[0]?.text).toBe('a1'.repeat(32));
  });
});

describe('foldAccents', () => {
  it('takes accents off, of any script', () => {
    expect(['café', 'über', 'Ångström', 'ñ', 'plain', 'ё'].map(foldAccents)).toEqual([
      'cafe',
      'uber',
      'Angstrom',
      'n',
      'plain',
      'е',
    ]);
  });

  it('writes letters that are none with an accent as who lacks them does', () => {
    expect(
      ['łódź', 'smørrebrød', 'đoković', 'ışık', 'straße', 'ægir', 'cœur', 'þór', 'ħ', 'ǿ'].map(foldAccents),
    ).toEqual(['lodz', 'smorrebrod', 'dokovic', 'isik', 'strasse', 'aegir', 'coeur', 'thor', 'h', 'o']);
  });
});
