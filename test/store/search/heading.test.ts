import { describe, expect, it } from 'vitest';
import { headingOf } from '../../../src/store/search/passage-text.ts';

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
