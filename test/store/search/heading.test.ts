import { describe, expect, it } from 'vitest';
import { headingOf } from '../../../src/store/search/heading.ts';

const told = (text: string): readonly [speaker: string, day: string | null, rest: string] => {
  const { speaker, saidAt, length } = headingOf(text);
  return [speaker.join(' '), saidAt?.toISOString().slice(0, 10) ?? null, text.slice(length)];
};

describe('headingOf', () => {
  it.each<[string, readonly [string, string | null, string]]>([
    ['Ada: hi', ['ada', null, 'hi']],
    ['Dr. Ada Lovelace: hi', ['dr ada lovelace', null, 'hi']],
    ['[1:56 pm on 8 May, 2023] Ada: hi', ['ada', '2023-05-08', 'hi']],
    ['1:56 pm on 8 May, 2023 | Ada: hi', ['ada', '2023-05-08', 'hi']],
    ['May 8, 2023, 1:56 pm - Ada: hi', ['ada', '2023-05-08', 'hi']],
    ['DATE: 8 May, 2023\nAda said, "hi"', ['ada', '2023-05-08', '"hi"']],
    ['[2026-03-05T10:00:00Z] the pump fails', ['', '2026-03-05', 'the pump fails']],
    ['2026-03-05 10:00:00 the pump fails', ['', '2026-03-05', 'the pump fails']],
    ['**Ada** (10:00): hi', ['ada', null, 'hi']],
    ['<Ada> hi', ['ada', null, 'hi']],
    ['D1:3 Ada: hi', ['ada', null, 'hi']],
    ['2026-03-05 is when we go', ['', null, '2026-03-05 is when we go']],
    ['12:30 we met Ada: she smiled', ['', null, '12:30 we met Ada: she smiled']],
    ['The plan is: go', ['', null, 'The plan is: go']],
    ['Hello there', ['', null, 'Hello there']],
    ['[2026-99-99] Ada: hi', ['ada', null, 'hi']],
    ['[Mon, 8 May 2023, 1:56 pm] Ada: hi', ['ada', '2023-05-08', 'hi']],
    ['[Monday 8 May 2023 at 13:56 UTC] hi', ['', '2023-05-08', 'hi']],
    ['[2026-03-05T10:00:00.123+02:00] hi', ['', '2026-03-05', 'hi']],
    ['[date: 2026-03-05] hi', ['', '2026-03-05', 'hi']],
    ['[Ada Lovelace, 8 May 2023 10:00] hi', ['', '2023-05-08', 'hi']],
    ['Ada (8 May 2023): hi', ['ada', '2023-05-08', 'hi']],
    ['[2026-03-05 | Ada] hi', ['', '2026-03-05', 'hi']],
    ['[Minutes, 2026-03-05] hi', ['', null, 'hi']],
    ['[re: minutes of 2019-01-01] hi', ['', null, 'hi']],
    ['[Re: minutes of 2019-01-01 10:00] hi', ['', null, 'hi']],
    ['[Updated 2019-01-01 10:00] hi', ['', null, 'hi']],
    ['(due May 5, 2031) hi', ['', null, 'hi']],
    ['[due 2019-01-01] Ada: hi', ['ada', null, 'hi']],
    ['Correction: it is blue', ['', null, 'Correction: it is blue']],
    ['[2026-03-05] Update: it is blue', ['', '2026-03-05', 'Update: it is blue']],
    ['8 May 2023 P.S.: it is blue', ['', '2023-05-08', 'P.S.: it is blue']],
    ['**Final Answer:** it is blue', ['', null, '**Final Answer:** it is blue']],
    ['Ada (due May 5, 2019): hi', ['ada', null, 'hi']],
  ])('reads %j', (text, expected) => {
    expect(told(text)).toEqual(expected);
  });
});
