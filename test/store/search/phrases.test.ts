import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../dev/bench/memory/load-entries.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { hasPhrases, phrasesOf } from '../../../src/store/search/phrases.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

describe('a phrase', () => {
  it.each([
    ['war', 'I bought new software', false],
    ['war', 'The war ended', true],
    ['9f8e7d6', 'Fixed in 9f8e7d6c5b4a', true],
    ['store/errors', 'See src/store/errors.ts', true],
    ['fitCheck', 'call readFitCheck', true],
    ['猫を飼', '私は猫を飼っています', true],
    ['Connection  refused', 'the connection refused', true],
    ['nginx "connection refused"', 'We saw "connection refused" there', true],
    ['nginx "connection refused"', 'nginx refused the connection', false],
    ['"alpha" or "beta"', 'alpha alone', false],
    ["don't stop, it's late", 'stop', false],
    ['we had to go then', 'At four, we had (alas) to go', false],
    ['we had to go then', 'At four we had to go; then, rain', true],
    ['"we had to go then"', 'At four we had to go; then, rain', false],
    ['at four, we had to', 'At four we had to go', true],
    ['had to go', 'What we had: to go', false],
    ['ad to go then', 'we had to go then', false],
    ['C#', 'I write C# at work', true],
    ['"C#"', 'I write C# at work', true],
    ['C#', 'I write C++ at work', false],
    ['"up"', 'What goes up comes down', true],
    ['up', 'What goes up comes down', false],
    ['c?', 'Is it vitamin C? It is', false],
    ['"c"', 'It is vitamin C', false],
    ['"Müller Résumé"', 'the Mu\u0308ller re\u0301sume\u0301 is here', true],
    ['"Mu\u0308ller"', 'here is Müller', true],
    ['"Mull"', 'here is Mull\u0308er', false],
    ['"サーバーは"', 'ｻｰﾊﾞｰは止まった', true],
    ['"ネコ"', 'ﾈｺがいる', true],
    ['"api key"', 'the ＡＰＩ　ｋｅｙ is lost', true],
    ['"ＡＰＩ"', 'of the API', true],
    ['"api"', 'of the ＡＰＩＳ', false],
    ['『定例会議』', '今日は定例会議です', true],
    ['＂定例会議＂', '今日は定例会議です', true],
    ['»hallo welt«', 'Na, hallo Welt!', true],
    ['»hallo welt«', 'hallo, Welt', false],
    ['‚hallo welt‘', 'Na, hallo Welt!', true],
    ['"it\'s fine"', 'I think it’s fine now', true],
    ['“don’t panic”', "Please don't panic", true],
    ['"한국"', '\u1112\u1161\u11ab\u1100\u116e\u11a8', true],
    ['Ｃ＃', 'I write C# at work', true],
    ['"Foo" "Müller"', 'Foo™ by Mu\u0308ller', true],
    ['we met Zoë there then', 'We met Zoe\u0308 there; then, rain', true],
  ])('of %j in %j: %j', (query, text, expected) => {
    expect(hasPhrases(text, phrasesOf(query))).toBe(expected);
  });

  it('in quotation marks within a query puts what has it first', async () => {
    const { conversationId } = await conversationOf(
      sql,
      'nginx: connection was refused by nginx, and nginx refused',
      'We saw "connection refused" there, on a very long day with many other things to look at',
      'software is a ware',
    );
    const [first] = await searchMemory(sql, { conversationId, query: 'nginx "connection refused"' });
    expect(first).toMatchObject({ match: 'phrase', text: expect.stringContaining('We saw') });
    const within = await searchMemory(sql, { conversationId, query: 'war' });
    expect(within.map(({ match }) => match)).toEqual(['similar']);
  });

  it('without quotation marks goes first whatever stands between its words', async () => {
    const apart = 'Go then, Ada had to go: the lantern had to go, then the ferry had to go, and then Ada.';
    const row =
      'When the bell rang for the last time in the harbour, Ada had to go; then the lantern was put out and all was dark.';
    const { conversationId } = await conversationOf(sql, apart, row, apart.replace('ferry', 'barge'));
    const [first] = await searchMemory(sql, { conversationId, query: 'Ada had to go then the lantern' });
    expect(first).toMatchObject({ match: 'phrase', text: row });
  });

  it('of common words is found among thousands that have the words apart', async () => {
    const long =
      'On the last morning of that long journey through the northern valleys we had to get up at four, and nobody was happy with it at all.';
    const textOf = (index: number): string => (index === 100 ? long : `Get on, then up it goes, item ${index}.`);
    const { conversationId } = await loadEntries(sql, 1_500, textOf);
    for (const query of ['"get up"', 'get up']) {
      const [first] = await searchMemory(sql, { conversationId, query, limit: 3 });
      expect(first).toMatchObject({ match: 'phrase', text: long });
    }
  });

  it('of one letter and a sign goes first, also among hundreds that have the letter alone', async () => {
    const said = 'I write C# at work, and have done so since the day that I came here, which was a long time ago';
    const few = await conversationOf(sql, said, 'vitamin C', 'commit c4f', 'C++, C', 'C C C', 'a plan C');
    const textOf = (index: number): string => (index === 100 ? said : `Plan C, vitamin C, item ${index}.`);
    const { conversationId: many } = await loadEntries(sql, 400, textOf);
    for (const conversationId of [few.conversationId, many]) {
      for (const query of ['C#', '"C#"', 'c#']) {
        const [first] = await searchMemory(sql, { conversationId, query, limit: 3 });
        expect(first).toMatchObject({ match: 'phrase', text: said });
      }
    }
  });

  it('without quotation marks puts the long message that has it before the many short ones without its last word', async () => {
    const remark = (number: number): string => `Something for your work from here on, remark ${number}.`;
    const long = `${remark(2)} ${'The station looks well today, and every tank of it holds 2 valves. '.repeat(12)}`;
    const short = Array.from({ length: 40 }, (_, index) => `${remark(index + 10)} ${'Well done. '.repeat(index)}`);
    const counted = Array.from({ length: 60 }, (_, index) => `Tank ${index + 100} holds 2 valves.`);
    const { conversationId } = await conversationOf(sql, long, ...short, ...counted);
    const [best] = await searchMemory(sql, { conversationId, query: remark(2), limit: 5 });
    expect(best).toMatchObject({ match: 'phrase', text: expect.stringContaining(remark(2)) });
  });
});
