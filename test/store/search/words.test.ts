import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { foldAccents, wordsOf } from '../../../src/store/search/words.ts';
import { headingOf } from '../../../src/store/search/passage-text.ts';
import { languageOf } from '../../../src/store/search/stems.ts';
import { PASSAGE_CHARACTERS, splitPassages } from '../../../src/store/search/passage-writer.ts';

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

const told = (text: string): readonly [speaker: string, day: string | null] => {
  const { speaker, saidAt } = headingOf(text);
  return [speaker.join(' '), saidAt?.toISOString().slice(0, 10) ?? null];
};

describe('headingOf', () => {
  it.each<[string, readonly [string, string | null]]>([
    ['Ada: hi', ['ada', null]],
    ['Dr. Ada Lovelace: hi', ['dr ada lovelace', null]],
    ['[1:56 pm on 8 May, 2023] Ada: hi', ['ada', '2023-05-08']],
    ['1:56 pm on 8 May, 2023 | Ada: hi', ['ada', '2023-05-08']],
    ['May 8, 2023, 1:56 pm - Ada: hi', ['ada', '2023-05-08']],
    ['[2026-03-05T10:00:00Z] the pump fails', ['', '2026-03-05']],
    ['2026-03-05 10:00:00 the pump fails', ['', '2026-03-05']],
    ['**Ada** (10:00): hi', ['ada', null]],
    ['<Ada> hi', ['ada', null]],
    ['2026-03-05 is when we go', ['', null]],
    ['12:30 we met Ada: she smiled', ['', null]],
    ['The plan is: go', ['', null]],
    ['Hello there', ['', null]],
    ['[2026-99-99] Ada: hi', ['ada', null]],
    ['[Mon, 8 May 2023, 1:56 pm] Ada: hi', ['ada', '2023-05-08']],
    ['[Ada Lovelace, 8 May 2023 10:00] hi', ['', '2023-05-08']],
    ['[re: minutes of 2019-01-01] hi', ['', null]],
    ['[Re: minutes of 2019-01-01 10:00] hi', ['', null]],
    ['[Updated 2019-01-01 10:00] hi', ['', null]],
    ['(due May 5, 2031) hi', ['', null]],
    ['Ada (due May 5, 2019): hi', ['ada', null]],
  ])('reads %j', (text, expected) => {
    expect(told(text)).toEqual(expected);
  });
});

it.each([
  ['Where is the file that you read for me?', 'english'],
  ['Wir haben das nicht mit der Post geschickt und ich warte auf die Antwort', 'german'],
  ['Je ne sais pas où est le dossier que vous cherchez dans les archives', 'french'],
  ['No sé dónde está el archivo que buscas, pero lo tengo en la casa', 'spanish'],
  ['Я не знаю, где это было и как мы за это взялись', 'russian'],
  ['Δεν ξέρω πού είναι', 'greek'],
  ['明天下午三点开会', 'english'],
  ['const x = await readFile(path)', 'english'],
  ['Die hard men at work', 'english'],
  ['No, no, no!', 'english'],
  ['Ha ha ha, so funny', 'english'],
  ['Das ist gut, das ist es', 'german'],
  ['', 'english'],
])('the language of %j is %s', (text, language) => {
  expect(languageOf(text)).toBe(language);
});

const LONE_SURROGATE = /\p{Surrogate}/u;

const TEXT = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constantFrom('\n', ' ', '😀'.repeat(300), 'x'.repeat(900)),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(''));

describe('splitPassages', () => {
  it('leaves out nothing but white space, keeps offsets, and parts no character', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const passages = splitPassages(text);
        let covered = '';
        for (const passage of passages) {
          const gap = text.slice(covered.length, passage.offset);
          expect(gap.trim()).toBe('');
          covered += gap + passage.text;
          expect(passage.text.length).toBeLessThanOrEqual(PASSAGE_CHARACTERS);
          if (!LONE_SURROGATE.test(text)) expect(passage.text).not.toMatch(LONE_SURROGATE);
        }
        expect(text.startsWith(covered)).toBe(true);
        expect(text.slice(covered.length).trim()).toBe('');
      }),
    );
  });

  it('cuts at line ends rather than at spaces, and at spaces rather than in words', () => {
    const lines = splitPassages(`${'word '.repeat(150)}\n${'word '.repeat(150)}`);
    expect(lines[0]?.text.endsWith('\n')).toBe(true);
    const words = splitPassages('word '.repeat(300));
    expect(words.every(({ text }) => text.endsWith('word '))).toBe(true);
    const clauses = splitPassages('今天天气很好，我们去公园散步。'.repeat(100));
    expect(clauses.length).toBeGreaterThan(1);
    expect(clauses.every(({ text }) => /[，。]$/u.test(text))).toBe(true);
    const minified = splitPassages('function(a){return(a.b);}'.repeat(100));
    expect(minified.every(({ text }) => /[{}();]$/u.test(text))).toBe(true);
    expect(splitPassages('x'.repeat(2_500)).map(({ text }) => text.length)).toEqual([1_000, 1_000, 500]);
  });

  it.each([
    ['|', (id: string) => id],
    ['&', (id: string, index: number) => `order_${index}=${id}`],
    ['/', (id: string) => id],
    ['', (id: string) => `"${id}"`],
  ])('cuts no identifier where names stand without spaces, joined by %j', (mark, named) => {
    const identifiers = Array.from({ length: 400 }, (_, index) => `order-${(index * 7_919 + 100_003) % 999_983}_eu`);
    const passages = splitPassages(identifiers.map(named).join(mark));
    expect(passages.length).toBeGreaterThan(4);
    for (const identifier of identifiers) expect(passages.some(({ text }) => text.includes(identifier))).toBe(true);
  });
});
