import { describe, expect, it } from 'vitest';
import { dateTermsOf, timeTermsOf } from '../../../src/store/search/dates.ts';

/** A Wednesday. */
const WRITTEN = new Date('2026-03-11T15:00:00Z');

const days = (text: string): string[] =>
  dateTermsOf(text, WRITTEN).filter((term) => /^@\d{4}-\d{2}-\d{2}$/u.test(term));

describe('dateTermsOf', () => {
  it.each<[string, string[]]>([
    ['on 2026-03-05 it rained', ['@2026-03-05']],
    ['8 May 2023', ['@2023-05-08']],
    ['May 8th, 2023', ['@2023-05-08']],
    ['on March 5', ['@2026-03-05']],
    ['on December 30', ['@2025-12-30']],
    ['we met yesterday', ['@2026-03-10']],
    ['Last Tuesday I was there', ['@2026-03-10']],
    ['last Wednesday', ['@2026-03-04']],
    ['next Monday', ['@2026-03-16']],
    ['two days ago', ['@2026-03-09']],
    ['3 days ago', ['@2026-03-08']],
    ['last weekend', ['@2026-03-07', '@2026-03-08']],
    ['on 2026/03/05 it rained', ['@2026-03-05']],
    ['in src/2026/03/05/notes.md', []],
    ['you may march on, in may be', []],
    ['nothing of the kind', []],
    ['2026-13-45', []],
  ])('resolves %j', (text, expected) => {
    expect(days(text)).toEqual(expected);
  });

  it('counts a Sunday to the weekend that it ends', () => {
    const weekend = (text: string) =>
      dateTermsOf(text, new Date('2026-03-15T12:00:00Z')).filter((term) => term.length > 8);
    expect(weekend('this weekend')).toEqual(['@2026-03-14', '@2026-03-15']);
    expect(weekend('last weekend')).toEqual(['@2026-03-07', '@2026-03-08']);
    expect(weekend('next weekend')).toEqual(['@2026-03-21', '@2026-03-22']);
  });

  it('knows months and years without a day', () => {
    expect(dateTermsOf('in May 2023', WRITTEN)).toEqual(expect.arrayContaining(['@2023-05', '@-05']));
    expect(dateTermsOf('back in June', WRITTEN)).toEqual(['@2026-06', '@-06']);
    expect(dateTermsOf('last month', WRITTEN)).toEqual(['@2026-02', '@-02']);
    expect(dateTermsOf('two years ago', WRITTEN)).toEqual(['@2024']);
  });

  it('has seven days for a week', () => {
    expect(days('last week')).toHaveLength(7);
    expect(days('last week')[0]).toBe('@2026-03-02');
  });

  it('meets the terms of the time of writing', () => {
    const asked = dateTermsOf('What happened on 11 March 2026?', new Date('2026-07-01T00:00:00Z'));
    expect(timeTermsOf(WRITTEN).every((term) => asked.includes(term))).toBe(true);
  });
});
