import { dayTerms, nearestYear, yearOfMonth } from './calendar.ts';
import { holidayTermsOf } from './holidays.ts';
import { relativeTermsOf, stepsOfYear } from './relative-dates.ts';

/**
 * Dates that a text speaks of, as terms of the search index: `@2026-03-05` a day, `@2026-03` a month,
 * `@2026` a year, `@-03` a month of any year. Relative words ("last Tuesday", "two weeks ago") are
 * resolved against the time at which the text was written. English, basic German, Chinese, Japanese and Korean words, and numbers; UTC.
 */

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
/** Those that begin otherwise in German. */
const GERMAN_MONTHS: Readonly<Record<string, string>> = { mär: 'mar', mai: 'may', okt: 'oct', dez: 'dec' };

const MONTH =
  'jan(?:uary?)?|feb(?:ruary?)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|oktober|nov(?:ember)?|de[cz](?:ember)?';
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(\d{4})`;

const ISO_DATE = /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/gu;
/** Which of the two is the day depends on the country: both are taken. */
const NUMBERED_DATE = /(?<![\d/.])(\d{1,2})([/.])(\d{1,2})\2((?:19|20)\d{2})(?![\d/])/gu;
const CHINESE_DATE =
  /(?:(\d{4})(?:年|년 ?)|(前年|去年|今年|明年|后年|一昨年|昨年|来年|재작년|작년|지난해|올해|내년)[の에의]? ?)?(\d{1,2})[月월](?: ?(\d{1,2})[日号일])?/gu;
const YEAR_ALONE =
  /\b(?:in|since|until|till|by|during|of|from|before|after|around|early|late|mid|im Jahr|seit)[ -]((?:19|20)\d{2})\b(?![-./]\d)|((?:19|20)\d{2})[年년](?! ?\d)/giu;
/** With slashes only where the year comes first: which of the others is the day depends on the country. */
const SLASHED_DATE = /(?<![\d/])(\d{4})\/(\d{1,2})\/(\d{1,2})(?![\d/])/gu;
const DAY_MONTH = new RegExp(String.raw`\b${DAY}(?: of)? (${MONTH})\b\.?(?:,? ${YEAR})?`, 'giu');
const GERMAN_DAY =
  /\b(\d{1,2})\. (Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)(?: (\d{4}))?/gu;
const MONTH_DAY = new RegExp(String.raw`\b(?:(last|since|next) )?(${MONTH})\b\.? ${DAY}\b(?:,? ${YEAR})?`, 'giu');
const MONTH_YEAR = new RegExp(String.raw`\b(${MONTH})\b\.?,? ${YEAR}\b`, 'giu');
/** "May" and "march" alone are verbs too: only a word of time before makes them months. */
const MONTH_ALONE = new RegExp(
  String.raw`\b(in|since|until|till|by|during|early|late|mid|last|this past|this|next|of|im|seit|bis|Anfang|Mitte|Ende|(?:letzt|vorig|vergangen|dies|nächst|kommend)e[nrm])[ -](${MONTH})(?!\p{L})(?!,? \d)`,
  'giu',
);
const MAYBE_DATED =
  /\d|day|night|week|month|year|tomorrow|morning|spring|summer|fall|autumn|winter|christmas|xmas|easter|halloween|thanksgiving|valentine|gestern|übermorgen|heute|woche|(?:sonn|mon|diens|donners|frei|sams)tag|mittwoch|\btage?n?\b|monat|jahr|ostern|weihnacht|heiligabend|silvester|[天日昨周週月年]|星期|礼拜|禮拜|圣诞|元旦|어제|어젯밤|그저께|그제|오늘|내일|모레|요일|지난|저번|이번|다음|[작내]년|올해|하루|이틀|사흘|나흘|열흘|[한두세네섯곱덟홉열] ?(?:주|달|개월|년|해)|\b(?:last|this|next|on|coming) [mtwfs](?:on|ue|ed|hu|ri|at|un)|\b(?:in|since|until|till|by|during|early|late|mid|last|this|next|of|im|seit|bis|anfang|mitte|ende|(?:letzt|vorig|vergangen|dies|nächst|kommend)e[nrm])[ -]\p{Lu}/iu;

/** Terms of the dates that a text names, resolved against `writtenAt`. */
export function dateTermsOf(text: string, writtenAt: Date): string[] {
  // Cheaper than twenty patterns over a text without any date.
  if (!MAYBE_DATED.test(text)) return [];
  const terms = new Set<string>();
  addAbsolute(terms, text, writtenAt);
  for (const term of relativeTermsOf(text, writtenAt)) terms.add(term);
  for (const term of holidayTermsOf(text, writtenAt)) terms.add(term);
  return [...terms];
}

/** Terms of the years that a query names: there a number alone may be one. */
export function yearTermsOf(query: string): string[] {
  return [...query.matchAll(/(?<![\d./-])(?:19|20)\d{2}(?![\d./-])/gu)].map(([year]) => `@${year}`);
}

/** Terms of the time at which a text was written. */
export function timeTermsOf(writtenAt: Date): string[] {
  return dayTerms(writtenAt);
}

/** The year of a day or month; `null` for the term of a month of any year. */
export function yearTermOf(term: string): string | null {
  return /^@\d{4}/.exec(term)?.[0] ?? null;
}

function addAbsolute(terms: Set<string>, text: string, writtenAt: Date): void {
  const add = (year: string | undefined, month: number, day: string | undefined): void => {
    for (const term of calendarTerms(year, month, day, writtenAt)) terms.add(term);
  };
  for (const [, year, month, day] of text.matchAll(ISO_DATE)) add(year, Number(month) - 1, day);
  for (const [, one, , other, year] of text.matchAll(NUMBERED_DATE)) {
    for (const [day, month] of [
      [one, other],
      [other, one],
    ]) {
      add(year, Number(month) - 1, day);
    }
  }
  for (const [, year, near, month, day] of text.matchAll(CHINESE_DATE)) {
    add(near === undefined ? year : yearFrom(writtenAt, near), Number(month) - 1, day);
  }
  for (const [, year, chinese] of text.matchAll(YEAR_ALONE)) terms.add(`@${year ?? chinese ?? ''}`);
  for (const [, year, month, day] of text.matchAll(SLASHED_DATE)) add(year, Number(month) - 1, day);
  for (const [, day, month, year] of text.matchAll(DAY_MONTH)) add(year, monthOf(month), day);
  for (const [, day, month, year] of text.matchAll(GERMAN_DAY)) add(year, monthOf(month), day);
  for (const [, which = '', month, day, year] of text.matchAll(MONTH_DAY)) {
    add(year ?? String(yearOfMonth(monthOf(month), which, writtenAt)), monthOf(month), day);
  }
  for (const [, month, year] of text.matchAll(MONTH_YEAR)) add(year, monthOf(month), undefined);
  for (const [, which = '', month] of text.matchAll(MONTH_ALONE)) {
    const year = String(yearOfMonth(monthOf(month), which, writtenAt));
    if (/^\p{Lu}/u.test(month ?? '')) add(year, monthOf(month), undefined);
  }
}

/** "Last year" in words that stand before a month. */
function yearFrom(writtenAt: Date, word: string): string {
  return String(writtenAt.getUTCFullYear() + stepsOfYear(word));
}

function calendarTerms(year: string | undefined, month: number, day: string | undefined, writtenAt: Date): string[] {
  if (!(month >= 0 && month <= 11)) return [];
  const anyYear = `@-${twoDigits(month + 1)}`;
  const known = year === undefined ? nearestYear(month, writtenAt) : Number(year);
  const number = day === undefined ? undefined : Number(day);
  if (number !== undefined && number >= 1 && number <= daysOfMonth(known, month)) {
    return dayTerms(new Date(Date.UTC(known, month, number)));
  }
  return [`@${known}-${twoDigits(month + 1)}`, anyYear];
}

function daysOfMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

function monthOf(name: string | undefined): number {
  const begin = (name ?? '').toLowerCase().slice(0, 3);
  const english = GERMAN_MONTHS[begin] ?? begin;
  return MONTHS.findIndex((month) => month.startsWith(english));
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
