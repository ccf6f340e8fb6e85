import { expect, it } from 'vitest';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

it.each(['サーバーはどこですか', 'ｻｰﾊﾞｰはどこですか'])(
  'keeps the characters of a loanword together: %s',
  async (query) => {
    const said = [
      'サーバーは大阪のデータセンターにあります。',
      'ｻｰﾊﾞｰは地下です。',
      'サラダバーのサービスはカレーとスープです。',
      'バーベキューはサッカーの後です。',
      '会議は金曜日です。',
    ];
    const { conversationId } = await conversationOf(sql, ...said);
    const found = await searchMemory(sql, { conversationId, query });
    expect(
      found
        .slice(0, 2)
        .map(({ text }) => said.indexOf(text))
        .toSorted((one, other) => one - other),
    ).toEqual([0, 1]);
  },
);
