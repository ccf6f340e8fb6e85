import { describe, expect, it } from 'vitest';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

/** As macOS lists them. */
const LISTED = `${Array.from({ length: 30 }, (_, index) => `notes/page-${index}.txt`).join('\n')}\nMu\u0308ller_Re\u0301sume\u0301.pdf`;
const SAID = [LISTED, '白いﾈｺがいる', 'The ＡＰＩ is down', 'Zoë met Zoe\u0308', 'Only what is plain'];

describe('a text in another spelling than the query', () => {
  it.each([
    ['Müller résumé', 0, 'words', ['müller', 'résumé']],
    ['ネコ', 1, 'words', ['ネコ']],
    ['api', 2, 'phrase', ['api']],
    ['"Zoë"', 3, 'phrase', ['zoë']],
    ['"zoe\u0308 met"', 3, 'phrase', ['zoë met']],
    ['"白いネコ"', 1, 'phrase', ['白いネコ']],
    ['"ＰＬＡＩＮ"', 4, 'phrase', ['plain']],
  ])('is found by %s, with its words in one spelling', async (query, index, match, forms) => {
    const { conversationId } = await conversationOf(sql, ...SAID);
    const [first] = await searchMemory(sql, { conversationId, query });
    expect(first).toMatchObject({ match, text: SAID[index], offset: 0 });
    expect(first?.forms).toEqual(expect.arrayContaining(forms));
  });
});
