/**
 * Dates that a text speaks of, as terms of the search index: `@2026-03-05` a day, `@2026-03` a month,
 * `@2026` a year, `@-03` a month of any year. Relative words ("last Tuesday", "two weeks ago") are
 * resolved against the time at which the text was written. English words and ISO dates; UTC.
 */

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(\d{4})`;

const ISO_DATE = /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/gu;
/** With slashes only where the year comes first: which of the others is the day depends on the country. */
const SLASHED_DATE = /(?<![\d/])(\d{4})\/(\d{1,2})\/(\d{1,2})(?![\d/])/gu;
const DAY_MONTH = new RegExp(String.raw`\b${DAY}(?: of)? (${MONTH})\b\.?(?:,? ${YEAR})?`, 'giu');
const MONTH_DAY = new RegExp(String.raw`\b(${MONTH})\b\.? ${DAY}\b(?:,? ${YEAR})?`, 'giu');
const MONTH_YEAR = new RegExp(String.raw`\b(${MONTH})\b\.?,? ${YEAR}\b`, 'giu');
/** "May" and "march" alone are verbs too: only a word of time before makes them months. */
const MONTH_ALONE = new RegExp(
  String.raw`\b(in|since|until|till|by|during|early|late|mid|last|this|next|of)[ -](${MONTH})\b(?! \d)`,
  'giu',
);
const NEAR_DAY = /\b(yesterday|today|tonight|tomorrow|last night|this morning|day before yesterday)\b/giu;
const WEEKDAY = new RegExp(String.raw`\b(?:(last|this|next|on|this past) )(${WEEKDAYS.join('|')})\b`, 'giu');
const NEAR_UNIT = /\b(last|this|next|past) (weekend|week|month|year)\b/giu;
const AGO = new RegExp(
  String.raw`\b(\d{1,3}|an?|a couple of|${NUMBERS.join('|')}) (day|week|month|year)s? ago\b`,
  'giu',
);

const DAY_MILLISECONDS = 86_400_000;

/** Terms of the dates that a text names, resolved against `writtenAt`. */
export function dateTermsOf(text: string, writtenAt: Date): string[] {
  const terms = new Set<string>();
  // Cheaper than nine patterns over a text without any date.
  if (
    !/\d|day|night|week|month|year|tomorrow|morning|\b(?:in|since|until|till|by|during|early|late|mid|last|this|next|of)[ -]\p{Lu}/iu.test(
      text,
    )
  ) {
    return [];
  }
  addAbsolute(terms, text, writtenAt);
  addRelative(terms, text, writtenAt);
  return [...terms];
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
  for (const [, year, month, day] of text.matchAll(SLASHED_DATE)) add(year, Number(month) - 1, day);
  for (const [, day, month, year] of text.matchAll(DAY_MONTH)) add(year, monthOf(month), day);
  for (const [, month, day, year] of text.matchAll(MONTH_DAY)) add(year, monthOf(month), day);
  for (const [, month, year] of text.matchAll(MONTH_YEAR)) add(year, monthOf(month), undefined);
  for (const [, , month] of text.matchAll(MONTH_ALONE)) {
    if (/^\p{Lu}/u.test(month ?? '')) add(undefined, monthOf(month), undefined);
  }
}

function addRelative(terms: Set<string>, text: string, writtenAt: Date): void {
  const addDay = (date: Date): void => dayTerms(date).forEach((term) => terms.add(term));
  for (const [, word = ''] of text.matchAll(NEAR_DAY)) addDay(addDays(writtenAt, nearDay(word.toLowerCase())));
  for (const [, which = '', weekday = ''] of text.matchAll(WEEKDAY)) {
    addDay(nearWeekday(writtenAt, which.toLowerCase(), WEEKDAYS.indexOf(weekday.toLowerCase())));
  }
  for (const [, which = '', unit = ''] of text.matchAll(NEAR_UNIT)) {
    const steps = { last: -1, past: -1, this: 0, next: 1 }[which.toLowerCase()] ?? 0;
    for (const term of unitTerms(writtenAt, unit.toLowerCase(), steps)) terms.add(term);
  }
  for (const [, amount = '', unit = ''] of text.matchAll(AGO)) {
    for (const term of unitTerms(writtenAt, unit.toLowerCase(), -amountOf(amount.toLowerCase()))) terms.add(term);
  }
}

function calendarTerms(year: string | undefined, month: number, day: string | undefined, writtenAt: Date): string[] {
  if (!(month >= 0 && month <= 11)) return [];
  const anyYear = `@-${twoDigits(month + 1)}`;
  const known = year === undefined ? nearestYear(month, writtenAt) : Number(year);
  const number = day === undefined ? undefined : Number(day);
  if (number !== undefined && number >= 1 && number <= 31)
    return [...dayTerms(new Date(Date.UTC(known, month, number)))];
  return [`@${known}-${twoDigits(month + 1)}`, anyYear];
}

/** Without a year the nearest month of that name is meant. */
function nearestYear(month: number, writtenAt: Date): number {
  const distance = month - writtenAt.getUTCMonth();
  if (distance > 6) return writtenAt.getUTCFullYear() - 1;
  return distance < -6 ? writtenAt.getUTCFullYear() + 1 : writtenAt.getUTCFullYear();
}

function dayTerms(date: Date): string[] {
  if (Number.isNaN(date.getTime())) return [];
  const day = date.toISOString().slice(0, 10);
  return [`@${day}`, `@${day.slice(0, 7)}`, `@${day.slice(4, 7)}`];
}

function unitTerms(writtenAt: Date, unit: string, steps: number): string[] {
  const at = (months: number): Date =>
    new Date(Date.UTC(writtenAt.getUTCFullYear(), writtenAt.getUTCMonth() + months, 1));
  switch (unit) {
    case 'day':
      return dayTerms(addDays(writtenAt, steps));
    case 'month':
      return dayTerms(at(steps)).slice(1);
    case 'year':
      return [`@${writtenAt.getUTCFullYear() + steps}`];
    case 'weekend': {
      // A Sunday belongs to the weekend that it ends.
      const saturday = addDays(writtenAt, 5 - ((writtenAt.getUTCDay() + 6) % 7) + 7 * steps);
      return [...dayTerms(saturday), ...dayTerms(addDays(saturday, 1))];
    }
    default: {
      const monday = addDays(writtenAt, -((writtenAt.getUTCDay() + 6) % 7) + 7 * steps);
      return Array.from({ length: 7 }, (_, day) => dayTerms(addDays(monday, day))).flat();
    }
  }
}

function nearDay(word: string): number {
  if (word === 'tomorrow') return 1;
  if (word === 'day before yesterday') return -2;
  return word === 'yesterday' || word === 'last night' ? -1 : 0;
}

function nearWeekday(writtenAt: Date, which: string, weekday: number): Date {
  const back = (writtenAt.getUTCDay() - weekday + 7) % 7;
  if (which === 'next') return addDays(writtenAt, 7 - back);
  if (which === 'this') return addDays(writtenAt, (7 - back) % 7);
  return addDays(writtenAt, -(back === 0 && which !== 'on' ? 7 : back));
}

function amountOf(word: string): number {
  if (word === 'a' || word === 'an') return 1;
  if (word === 'a couple of') return 2;
  const named = NUMBERS.indexOf(word);
  return named >= 0 ? named : Number(word);
}

function monthOf(name: string | undefined): number {
  return MONTHS.findIndex((month) => month.startsWith((name ?? '').toLowerCase().slice(0, 3)));
}

function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MILLISECONDS);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
