/**
 * Dates that a text names, as terms of the index: `@2026-03-05` a day, `@2026-03` a month, `@2026` a year. Relative ones ("last
 * Tuesday", "two weeks ago") count from when the text was written. English and numbers; days are those of UTC.
 */
const DAY_MILLISECONDS = 86_400_000;
const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

const MONTH_NAMES = MONTHS.map((name) => (name.length > 4 ? `${name.slice(0, 3)}(?:${name.slice(3)})?` : name));
const MONTH = `(?<month>${MONTH_NAMES.join('|')})`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(?<year>(?:19|20)\d{2})`;
/** Cheaper than the patterns below, which read a text in small letters. */
const MAYBE_DATED =
  /\d|day|night|morning|week|month|year|tomorrow|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/;

const CALENDAR: readonly RegExp[] = [
  new RegExp(String.raw`(?<![\d-])${YEAR}[-/](?<number>\d{1,2})(?:[-/](?<day>\d{1,2}))?(?!\d)`, 'g'),
  new RegExp(
    String.raw`\b(?:in|since|until|by|during|of|from|before|after|around|early|late) ${YEAR}\b(?![-./]\d)`,
    'g',
  ),
  new RegExp(String.raw`${YEAR}[年년](?: ?(?<number>\d{1,2})[月월](?: ?(?<day>\d{1,2})[日号일])?)?`, 'g'),
  new RegExp(String.raw`\b${DAY}\.?(?: of)? ${MONTH}\b\.?(?:,? ${YEAR})?`, 'g'),
  new RegExp(String.raw`\b${MONTH}\b\.? ${DAY}\b(?:,? ${YEAR})?`, 'g'),
  new RegExp(String.raw`\b${MONTH}\b\.?,? ${YEAR}\b`, 'g'),
];
/** "May" and "march" alone are other words too: they need a word of time before them, and a capital. */
const MONTH_ALONE = new RegExp(
  String.raw`(?<=\b(?:in|since|until|by|during|early|late|mid|last|this|next|of)[ -])${MONTH}\b`,
  'g',
);
const NEAR_DAYS: readonly (readonly [RegExp, number])[] = [
  [/\bday before yesterday\b/g, -2],
  [/(?<!day before )\byesterday\b|\blast night\b/g, -1],
  [/\btoday\b|\btonight\b|\bthis morning\b/g, 0],
  [/(?<!day after )\btomorrow\b/g, 1],
  [/\bday after tomorrow\b/g, 2],
];
const WEEKDAY = new RegExp(
  String.raw`\b(?:(?<which>last|this past|this|next|on|by) )?(?<day>${WEEKDAYS.join('|')})\b(?! (?:morning|afternoon|evening|night)s)`,
  'g',
);
const NEAR_UNIT =
  /\b(?<which>last|this past|this|next|past|over the|during the|at the) (?<unit>weekend|week|month|year)\b(?! of \d)/g;
const AGO = new RegExp(
  String.raw`\b(?<amount>\d{1,3}|an?|(?:a )?couple(?: of)?|(?:a )?few|${NUMBERS.slice(1).join('|')}) (?<unit>day|weekend|week|month|year)s? (?<where>ago|back|earlier|from now)\b`,
  'g',
);

type Groups = Readonly<Record<string, string | undefined>>;

/** What is said of time, and which dates it is when it is written at some time. */
const SAYINGS: readonly (readonly [RegExp, (said: Groups, writtenAt: Date) => readonly string[]])[] = [
  ...CALENDAR.map((pattern) => [pattern, calendarTerms] as const),
  [MONTH_ALONE, calendarTerms],
  ...NEAR_DAYS.map(([pattern, days]) => [pattern, (_: Groups, at: Date) => timeTermsOf(addDays(at, days))] as const),
  [WEEKDAY, weekdayTerms],
  [NEAR_UNIT, nearUnitTerms],
  [AGO, agoTerms],
];

export function timeTermsOf(date: Date): string[] {
  if (Number.isNaN(date.getTime())) return [];
  const day = date.toISOString().slice(0, 10);
  return [`@${day}`, ...monthTerms(date.getUTCFullYear(), date.getUTCMonth())];
}

export function dateTermsOf(text: string, writtenAt: Date): string[] {
  const lower = text.toLowerCase();
  if (!MAYBE_DATED.test(lower)) return [];
  const terms = SAYINGS.flatMap(([pattern, termsOf]) =>
    Array.from(lower.matchAll(pattern))
      .filter(({ index }) => pattern !== MONTH_ALONE || /\p{Lu}/u.test(text.charAt(index)))
      .flatMap(({ groups = {} }) => termsOf(groups, writtenAt)),
  );
  return [...new Set(terms)];
}

/** Years that a query names: there a number alone may be one. */
export function yearTermsOf(query: string): string[] {
  return Array.from(query.matchAll(/(?<![\d./-])(?:19|20)\d{2}(?![\d./-])/gu), ([year]) => `@${year}`);
}

/** @param month counted from 0 and on into the years around */
function monthTerms(year: number, month: number): string[] {
  const iso = new Date(Date.UTC(year, month, 1)).toISOString();
  return [`@${iso.slice(0, 7)}`, `@${iso.slice(0, 4)}`];
}

function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MILLISECONDS);
}

function calendarTerms({ year, month, number, day }: Groups, writtenAt: Date): string[] {
  if (month === undefined && number === undefined) return [`@${year ?? ''}`];
  const isNamed = (name: string): boolean => name.startsWith((month ?? '').slice(0, 3));
  const index = number === undefined ? MONTHS.findIndex(isNamed) : Number(number) - 1;
  if (index < 0 || index > 11) return [];
  const known = year === undefined ? nearestYear(index, writtenAt) : Number(year);
  const date = new Date(Date.UTC(known, index, Number(day ?? 1)));
  return day !== undefined && date.getUTCMonth() === index ? timeTermsOf(date) : monthTerms(known, index);
}

/** Without a year the nearest month of that name is meant. */
function nearestYear(month: number, writtenAt: Date): number {
  const distance = month - writtenAt.getUTCMonth();
  return writtenAt.getUTCFullYear() + (distance > 6 ? -1 : distance < -6 ? 1 : 0);
}

/** Of all days of that name the nearest before; "on Friday" may be the one after as well. */
function weekdayTerms({ day = '', which = '' }: Groups, writtenAt: Date): string[] {
  const back = (writtenAt.getUTCDay() - WEEKDAYS.indexOf(day) + 7) % 7;
  const [before, after] = [addDays(writtenAt, -back), addDays(writtenAt, 7 - back)];
  if (which.endsWith('last') || which.endsWith('past')) return timeTermsOf(back === 0 ? addDays(before, -7) : before);
  if (which === 'next') return timeTermsOf(after);
  return which === '' || back === 0 ? timeTermsOf(before) : [...timeTermsOf(before), ...timeTermsOf(after)];
}

function daysSinceMonday(date: Date): number {
  return (date.getUTCDay() + 6) % 7;
}

function unitTerms(at: Date, unit: string, steps: number): string[] {
  const monday = addDays(at, 7 * steps - daysSinceMonday(at));
  const days = unit === 'weekend' ? [5, 6] : unit === 'week' ? [0, 1, 2, 3, 4, 5, 6] : [];
  if (days.length > 0) return days.flatMap((day) => timeTermsOf(addDays(monday, day)));
  if (unit === 'day') return timeTermsOf(addDays(at, steps));
  if (unit === 'month') return monthTerms(at.getUTCFullYear(), at.getUTCMonth() + steps);
  return [`@${at.getUTCFullYear() + steps}`];
}

function nearUnitTerms({ which = '', unit = '' }: Groups, writtenAt: Date): string[] {
  const isNear = which === 'this' || (which.endsWith('the') && daysSinceMonday(writtenAt) >= 5);
  return unitTerms(writtenAt, unit, which === 'next' ? 1 : isNear ? 0 : -1);
}

function agoTerms({ amount = '', unit = '', where }: Groups, writtenAt: Date): string[] {
  const direction = where === 'from now' ? 1 : -1;
  const named = NUMBERS.indexOf(amount.replace(/^an?$/u, 'one').replace(/^.*couple.*$/u, 'two'));
  const amounts = amount.includes('few') ? [2, 3, 4] : [named > 0 ? named : Number(amount)];
  return amounts.flatMap((steps) => unitTerms(writtenAt, unit, direction * steps));
}
