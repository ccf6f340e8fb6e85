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
    ['two weekends ago', ['@2026-02-28', '@2026-03-01']],
    ['a few days ago', ['@2026-03-09', '@2026-03-08', '@2026-03-07']],
    ['twenty-one days ago', ['@2026-02-18']],
    ['last Tues we ran', ['@2026-03-10']],
    ['Tuesday morning I ran', ['@2026-03-10']],
    ['over the weekend', ['@2026-03-07', '@2026-03-08']],
    ['the day before yesterday', ['@2026-03-09']],
    ['6/12/2023', ['@2023-12-06', '@2023-06-12']],
    ['12.06.2023', ['@2023-06-12', '@2023-12-06']],
    ['1/30/2023', ['@2023-01-30']],
    ['Christmas', ['@2025-12-25']],
    ['last Christmas', ['@2025-12-25']],
    ['Easter 2024', ['@2024-03-31']],
    ['Thanksgiving 2023', ['@2023-11-23']],
    ['the eastern gate', []],
    ['gestern war ich da', ['@2026-03-10']],
    ['am 5. Mai 2023', ['@2023-05-05']],
    ['昨天我去了', ['@2026-03-10']],
    ['2023年5月8日', ['@2023-05-08']],
    ['the Tuesday before last', ['@2026-03-03']],
    ['on Tuesday last week', ['@2026-03-03']],
    ['last week on Sunday', ['@2026-03-08']],
    ['Friday of next week', ['@2026-03-20']],
    ['letzten Dienstag', ['@2026-03-10']],
    ['vorletzten Dienstag', ['@2026-03-03']],
    ['nächsten Montag', ['@2026-03-16']],
    ['Dienstag letzter Woche', ['@2026-03-03']],
    ['in drei Tagen', ['@2026-03-14']],
    ['in three days', ['@2026-03-14']],
    ['ten miles in a day, twice in two days', []],
    ['上周二我去了', ['@2026-03-03']],
    ['下周日', ['@2026-03-22']],
    ['先週の火曜日に行きました', ['@2026-03-03']],
    ['来週月曜', ['@2026-03-16']],
    ['3日前', ['@2026-03-08']],
    ['어제 다녀왔어요', ['@2026-03-10']],
    ['지난주 화요일에 갔어요', ['@2026-03-03']],
    ['지난 화요일', ['@2026-03-10']],
    ['다음 주 월요일', ['@2026-03-16']],
    ['사흘 전에 봤다', ['@2026-03-08']],
    ['3일 전', ['@2026-03-08']],
    ['2023년 5월 8일', ['@2023-05-08']],
    ['이번 주제와 다음 주소, 오늘날, 그제서야', []],
    ['on Fridays we rest, on Friday evenings too', []],
    ['it is on sat, I fall in the sun', []],
    ['the day after tomorrow', ['@2026-03-13']],
    ['Day after tomorrow we sail', ['@2026-03-13']],
    ['tomorrow, not today', ['@2026-03-12', '@2026-03-11']],
    ['3 days from today', ['@2026-03-14']],
    ['two days from tomorrow', ['@2026-03-14']],
    ['two days ago today', ['@2026-03-09']],
    ['from today on', ['@2026-03-11']],
    ['übermorgen fahren wir', ['@2026-03-13']],
    ['后天我们去', ['@2026-03-13']],
    ['大后天', ['@2026-03-14']],
    ['大前天', ['@2026-03-08']],
    ['今后天气会好', []],
    ['we ship on Friday', ['@2026-03-06', '@2026-03-13']],
    ['it began on Wednesday', ['@2026-03-11']],
    ['be done by Friday', ['@2026-03-13']],
    ['by Wednesday evening', ['@2026-03-11']],
    ['by Friday of next week', ['@2026-03-20']],
    ['made by Sun, by Friday evenings', []],
    ['am Montag war es', ['@2026-03-09', '@2026-03-16']],
    ['bis Freitag', ['@2026-03-13']],
    ['bis Freitag nächster Woche', ['@2026-03-20']],
    ['31 Feb 2026, 2026-02-30, February 29, 2026', []],
    ['29 Feb 2028', ['@2028-02-29']],
    ['am 31. April 2026', []],
    ['this Monday', ['@2026-03-09', '@2026-03-16']],
    ['this Wednesday', ['@2026-03-11']],
    ['diesen Freitag', ['@2026-03-06', '@2026-03-13']],
    ['이번 월요일', ['@2026-03-09', '@2026-03-16']],
    ['上星期三', ['@2026-03-04']],
    ['上個星期二', ['@2026-03-03']],
    ['下星期五', ['@2026-03-20']],
    ['上礼拜二', ['@2026-03-03']],
    ['上個週末', ['@2026-03-07', '@2026-03-08']],
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

  it.each<[string, string[]]>([
    ['last summer', ['@2025-06', '@2025-07', '@2025-08']],
    ['this fall', ['@2026-09', '@2026-10', '@2026-11']],
    ['the summer of 2021', ['@2021', '@2021-06', '@2021-07', '@2021-08']],
    ['last winter', ['@2025-12', '@2026-01', '@2026-02']],
    ['a couple weeks ago', ['@2026-02', '@2026-03']],
    ['twenty years ago', ['@2006']],
    ['in 2022', ['@2022']],
    ['since 2016', ['@2016']],
    ['vor zwei Jahren', ['@2024']],
    ['去年', ['@2025']],
    ['작년에', ['@2025']],
    ['두 달 전', ['@2026-01']],
    ['5년 전에', ['@2021']],
    ['2022년에는', ['@2022']],
    ['两个星期前', ['@2026-02', '@2026-03']],
    ['上星期', ['@2026-03']],
    ['上個月', ['@2026-02']],
    ['這個月', ['@2026-03']],
    ['兩週前', ['@2026-02', '@2026-03']],
    ['三個月前', ['@2025-12']],
    ['兩年前', ['@2024']],
  ])('knows that %j is in %j', (text, expected) => {
    const found = dateTermsOf(text, WRITTEN).filter((term) => /^@\d{4}(?:-\d{2})?$/u.test(term));
    expect([...new Set(found)]).toEqual(expected);
  });

  it.each<[string, string, string[]]>([
    ['We moved last March.', '2026-11-20', ['@2026-03']],
    ['We moved last March.', '2026-03-20', ['@2025-03']],
    ['last March 5', '2026-11-20', ['@2026-03']],
    ['We have lived here since March.', '2026-11-20', ['@2026-03']],
    ['Since March we live here.', '2026-03-20', ['@2026-03']],
    ['since October', '2026-03-20', ['@2025-10']],
    ['We moved last June.', '2026-05-20', ['@2025-06']],
    ['We move next March.', '2026-04-20', ['@2027-03']],
    ['We move next June.', '2026-04-20', ['@2026-06']],
    ['this March', '2026-11-20', ['@2026-03']],
    ['until March', '2026-11-20', ['@2027-03']],
    ['last March 2024', '2026-11-20', ['@2024-03']],
    ['Wir sind seit März hier', '2026-11-20', ['@2026-03']],
    ['letzten Juni', '2026-05-20', ['@2025-06']],
    ['nächsten März ziehen wir um', '2026-04-20', ['@2027-03']],
    ['im Mai', '2026-04-20', ['@2026-05']],
    ['去年3月', '2026-11-20', ['@2025', '@2025-03']],
    ['来年の3月', '2026-01-20', ['@2027', '@2027-03']],
    ['작년 3월에', '2026-11-20', ['@2025', '@2025-03']],
    ['This winter is cold.', '2026-01-20', ['@2025-12', '@2026-01', '@2026-02']],
    ['This winter is cold.', '2026-12-20', ['@2026-12', '@2027-01', '@2027-02']],
    ['It snowed over the winter.', '2026-03-20', ['@2025-12', '@2026-01', '@2026-02']],
    ['We ski in winter.', '2026-10-20', ['@2026-12', '@2027-01', '@2027-02']],
    ['last winter', '2026-01-20', ['@2024-12', '@2025-01', '@2025-02']],
    ['next winter', '2026-01-20', ['@2026-12', '@2027-01', '@2027-02']],
    ['since autumn', '2026-01-20', ['@2025-09', '@2025-10', '@2025-11']],
  ])('takes %j, written on %s, for %j', (text, writtenAt, expected) => {
    const found = dateTermsOf(text, new Date(`${writtenAt}T10:00:00Z`));
    expect([...new Set(found.filter((term) => /^@\d{4}(?:-\d{2})?$/u.test(term)))].toSorted()).toEqual(expected);
  });

  it('has the days of the week before last and after next in German', () => {
    expect(days('vorletzte Woche')).toEqual(days('the week before last'));
    expect(days('übernächste Woche')).toEqual(days('two weeks from now'));
  });

  it('has the seven days of the weeks before last, and of German, Chinese, Japanese and Korean ones', () => {
    expect(days('the week before last')[0]).toBe('@2026-02-23');
    expect(days('letzte Woche')).toEqual(days('last week'));
    expect(days('上周')).toEqual(days('last week'));
    expect(days('上周一起吃饭')).toEqual(days('last week'));
    expect(days('先週')).toEqual(days('last week'));
    for (const week of ['지난주', '지난 주에 만났다', '저번 주는']) expect(days(week)).toEqual(days('last week'));
    expect(days('in two weeks')[0]).toBe('@2026-03-23');
    expect(days('in zwei Wochen')).toEqual(days('in two weeks'));
    for (const same of ['two weeks from now', 'two weeks from today', 'in a fortnight', 'a fortnight from now'])
      expect(days(same)).toEqual(days('in two weeks'));
    expect(days('a fortnight ago')).toEqual(days('two weeks ago'));
  });

  it('takes a number alone for a year in a query', () => {
    expect(yearTermsOf('marathon 2022 or 2016?')).toEqual(['@2022', '@2016']);
    expect(yearTermsOf('port 20221, 1.2022')).toEqual([]);
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
