import { describe, expect, it } from 'vitest';
import { dateTermsOf, timeTermsOf, yearTermsOf } from '../../../src/store/search/dates.ts';

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
    ['on September 30', ['@2026-09-30']],
    ['on October 1', ['@2025-10-01']],
    ['we met yesterday', ['@2026-03-10']],
    ['Last Tuesday I was there', ['@2026-03-10']],
    ['last Wednesday', ['@2026-03-04']],
    ['next Monday', ['@2026-03-16']],
    ['two days ago', ['@2026-03-09']],
    ['3 days ago', ['@2026-03-08']],
    ['last weekend', ['@2026-03-07', '@2026-03-08']],
    ['on 2026/03/05 it rained', ['@2026-03-05']],
    ['you may march on, in may be', []],
    ['two weekends ago', ['@2026-02-28', '@2026-03-01']],
    ['a few days ago', ['@2026-03-09', '@2026-03-08', '@2026-03-07']],
    ['Tuesday morning I ran', ['@2026-03-10']],
    ['over the weekend', ['@2026-03-07', '@2026-03-08']],
    ['the day before yesterday', ['@2026-03-09']],
    ['the eastern gate', []],
    ['2023年5月8日', ['@2023-05-08']],
    ['ten miles in a day, twice in two days', []],
    ['2023년 5월 8일', ['@2023-05-08']],
    ['on Fridays we rest, on Friday evenings too', []],
    ['it is on sat, I fall in the sun', []],
    ['the day after tomorrow', ['@2026-03-13']],
    ['Day after tomorrow we sail', ['@2026-03-13']],
    ['tomorrow, not today', ['@2026-03-12', '@2026-03-11']],
    ['from today on', ['@2026-03-11']],
    ['we ship on Friday', ['@2026-03-06', '@2026-03-13']],
    ['it began on Wednesday', ['@2026-03-11']],
    ['by Wednesday evening', ['@2026-03-11']],
    ['made by Sun, by Friday evenings', []],
    ['31 Feb 2026, 2026-02-30, February 29, 2026', []],
    ['29 Feb 2028', ['@2028-02-29']],
    ['am 31. April 2026', []],
    ['this Monday', ['@2026-03-09', '@2026-03-16']],
    ['this Wednesday', ['@2026-03-11']],
    ['nothing of the kind', []],
    ['2026-13-45', []],
  ])('resolves %j', (text, expected) => {
    expect([...new Set(days(text))].toSorted()).toEqual(expected.toSorted());
  });

  it('takes a number alone for a year in a query', () => {
    expect(yearTermsOf('marathon 2022 or 2016?')).toEqual(['@2022', '@2016']);
    expect(yearTermsOf('port 20221, 1.2022')).toEqual([]);
  });

  it('has seven days for a week', () => {
    expect(days('last week')).toHaveLength(7);
    expect(days('last week')[0]).toBe('@2026-03-02');
  });

  it('takes the year that is nearest for a month alone', () => {
    const inOctober = new Date('2026-10-20T15:00:00Z');
    expect(dateTermsOf('on April 5', inOctober)).toContain('@2026-04-05');
    expect(dateTermsOf('on March 5', inOctober)).toContain('@2027-03-05');
  });

  it('meets the terms of the time of writing', () => {
    const asked = dateTermsOf('What happened on 11 March 2026?', new Date('2026-07-01T00:00:00Z'));
    expect(timeTermsOf(WRITTEN).every((term) => asked.includes(term))).toBe(true);
  });
});
