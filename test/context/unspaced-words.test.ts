import { describe, expect, it } from 'vitest';
import { wordsIn } from '../../src/context/log/unspaced-words.ts';
import { wordsOf } from '../../src/store/search/words.ts';

describe('words of scripts without spaces', () => {
  it.each([
    '我的猫叫小白',
    '東京へ行きました',
    'カタカナ',
    'データベース',
    'ﾃﾞｰﾀﾍﾞｰｽ',
    '고양이',
    'ประเทศไทย',
    'ພາສາລາວ',
    'ភាសាខ្មែរ',
    'မြန်မာ',
    '文件txt新建',
    '猫',
    'Zürich 京都 2026',
    'नमस्ते दुनिया',
    '𠮷野家',
  ])('are the same as in the search index: %j', (text) => {
    expect(wordsIn(text.toLowerCase())).toEqual(wordsOf(text).map((word) => word.text));
  });
});
