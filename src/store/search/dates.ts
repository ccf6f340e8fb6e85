/**
 * Dates that a text names, as terms of the index: `@2026-03-05` a day, `@2026-03` a month, `@2026` a year. Relative ones ("last
 * Tuesday", "two weeks ago") count from when the text was written. English, numbers, and the commonest words of German, Chinese,
 * Japanese and Korean; days are those of UTC.
 */
const DAY_MILLISECONDS = 86_400_000;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const GERMAN_WEEKDAYS = 'sonntag montag dienstag mittwoch donnerstag freitag samstag'.split(' ');
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

const MONTH = `(?<month>${'january february march april may june july august september october november december'
  .split(' ')
  .map((name) => (name.length > 4 ? `${name.slice(0, 3)}(?:${name.slice(3)})?` : name))
  .join('|')})`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(?<year>(?:19|20)\d{2})`;
/** Cheaper than the patterns below over a text without any date. They all read a text in small letters, which is faster. */
const MAYBE_DATED =
  /\d|day|night|week|month|year|tomorrow|tag\b|gestern|heute|morgen|woche|monat|jahr|[天日昨周週月年]|어제|오늘|내일|지난|작년/;
const MAYBE_MONTH = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/;

const WITH_DIGITS: readonly RegExp[] = [
  /(?<![\d-])(?<year>(?:19|20)\d{2})[-/](?<number>\d{1,2})(?:[-/](?<day>\d{1,2}))?(?!\d)/g,
  /\b(?:in|since|until|by|during|of|from|before|after|around|early|late) (?<year>(?:19|20)\d{2})\b(?![-./]\d)/g,
  /(?:(?<year>(?:19|20)\d{2})[年년] ?)?(?<number>\d{1,2})[月월](?: ?(?<day>\d{1,2})[日号일])?/g,
  /(?<year>(?:19|20)\d{2})[年년](?! ?\d)/g,
];
const WITH_MONTH: readonly RegExp[] = [
  new RegExp(String.raw`\b${DAY}\.?(?: of)? ${MONTH}\b\.?(?:,? ${YEAR})?`, 'g'),
  new RegExp(String.raw`\b${MONTH}\b\.? ${DAY}\b(?:,? ${YEAR})?`, 'g'),
  new RegExp(String.raw`\b${MONTH}\b\.?,? ${YEAR}\b`, 'g'),
];
/** "May" and "march" alone are other words too: they need a word of time before them, and a capital. */
const MONTH_ALONE = new RegExp(
  String.raw`(?<=\b(?:in|since|until|by|during|early|late|mid|last|this|next|of)[ -])${MONTH}\b`,
  'g',
);

/** Which of the two is the day depends on the country: both are taken. */
const NUMBERED = /(?<![\d/.])(?<one>\d{1,2})(?<sign>[/.])(?<other>\d{1,2})\k<sign>(?<year>(?:19|20)\d{2})(?![\d/])/g;

const NEAR_DAYS: readonly (readonly [RegExp, number])[] = [
  [/\bday before yesterday\b|\bvorgestern\b|前天|一昨日|그저께/u, -2],
  [/(?<!day before )\byesterday\b|\blast night\b|(?<!vor)gestern\b|昨[天日晚夜]|어제/u, -1],
  [/\btoday\b|\btonight\b|\bthis morning\b|\bheute\b|今[天日]|오늘/u, 0],
  [/(?<!day after )\btomorrow\b|明[天日]|내일/u, 1],
  [/\bday after tomorrow\b|\bübermorgen\b|后天|明後日|모레/u, 2],
];
const NEAR_UNIT =
  /\b(?<which>last|this past|this|next|past|over the|during the|at the) (?<unit>weekend|week|month|year)\b(?! of \d)/g;
const OTHER_UNITS: readonly (readonly [RegExp, string, number])[] = [
  [/\b(?:letzte|vorige)[nr]? woche\b|上(?:个|個)?(?:周|週|星期)|先週|지난 ?주/u, 'week', -1],
  [/\b(?:letzte|vorige)[nrm]? monat\b|上(?:个|個)?月|先月|지난 ?달/u, 'month', -1],
  [/\b(?:letzte|vorige)[ns]? jahr\b|去年|昨年|작년|지난해/u, 'year', -1],
];
const AGO = new RegExp(
  String.raw`\b(?<amount>\d{1,3}|an?|(?:a )?couple(?: of)?|(?:a )?few|${NUMBERS.slice(1).join('|')}) (?<unit>day|weekend|week|month|year)s? (?<where>ago|back|earlier|from now)\b`,
  'g',
);
const WEEKDAY = new RegExp(
  String.raw`\b(?:(?<which>last|this past|this|next|on|by|letzte[nrs]?|nächste[nrs]?|am|bis) )?(?<day>${[...WEEKDAYS, ...GERMAN_WEEKDAYS].join('|')})\b(?! (?:morning|afternoon|evening|night)s)(?<week>,? (?:of )?last week\b)?`,
  'g',
);

/** Terms of the time at which something was said. */
export function timeTermsOf(at: Date): string[] {
  return dayTerms(at);
}

/** Terms of the dates that a text names. */
export function dateTermsOf(text: string, writtenAt: Date): string[] {
  const lower = text.toLowerCase();
  const hasMonth = MAYBE_MONTH.test(lower);
  if (!hasMonth && !MAYBE_DATED.test(lower)) return [];
  const terms = [
    ...[...WITH_DIGITS, ...(hasMonth ? WITH_MONTH : [])].flatMap((pattern) =>
      Array.from(lower.matchAll(pattern), ({ groups }) => calendarTerms(groups, writtenAt)),
    ),
    ...(hasMonth ? Array.from(lower.matchAll(MONTH_ALONE)) : []).flatMap(({ groups, index }) =>
      /\p{Lu}/u.test(text.charAt(index)) ? [calendarTerms(groups, writtenAt)] : [],
    ),
    ...Array.from(lower.matchAll(NUMBERED), ({ groups }) =>
      [groups?.['one'], groups?.['other']].flatMap((day, index, both) =>
        calendarTerms({ year: groups?.['year'], number: both[1 - index], day }, writtenAt),
      ),
    ),
    ...NEAR_DAYS.flatMap(([pattern, days]) => (pattern.test(lower) ? [dayTerms(addDays(writtenAt, days))] : [])),
    ...weekdaysIn(lower, writtenAt),
    ...unitsIn(lower, writtenAt),
  ];
  return [...new Set(terms.flat())];
}

/** Years that a query names: there a number alone may be one. */
export function yearTermsOf(query: string): string[] {
  return Array.from(query.matchAll(/(?<![\d./-])(?:19|20)\d{2}(?![\d./-])/gu), ([year]) => `@${year}`);
}

function dayTerms(date: Date): string[] {
  if (Number.isNaN(date.getTime())) return [];
  const day = date.toISOString().slice(0, 10);
  return [`@${day}`, ...monthTerms(date.getUTCFullYear(), date.getUTCMonth())];
}

/** @param month counted from 0 and on into the years around */
function monthTerms(year: number, month: number): string[] {
  const iso = new Date(Date.UTC(year, month, 1)).toISOString();
  return [`@${iso.slice(0, 7)}`, `@${iso.slice(0, 4)}`];
}

function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MILLISECONDS);
}

type Groups = Readonly<Record<string, string | undefined>> | undefined;

function calendarTerms(groups: Groups, writtenAt: Date): string[] {
  const { year, month, number, day } = groups ?? {};
  if (month === undefined && number === undefined) return [`@${year ?? ''}`];
  const index = number === undefined ? MONTHS.indexOf((month ?? '').slice(0, 3)) : Number(number) - 1;
  if (index < 0 || index > 11) return [];
  const known = year === undefined ? nearestYear(index, writtenAt) : Number(year);
  if (day === undefined) return monthTerms(known, index);
  const date = new Date(Date.UTC(known, index, Number(day)));
  return date.getUTCMonth() === index ? dayTerms(date) : monthTerms(known, index);
}

/** Without a year the nearest month of that name is meant. */
function nearestYear(month: number, writtenAt: Date): number {
  const distance = month - writtenAt.getUTCMonth();
  return writtenAt.getUTCFullYear() + (distance > 6 ? -1 : distance < -6 ? 1 : 0);
}

/** Of all days of that name the nearest before; "on Friday" may be the one after as well. */
function weekdaysIn(text: string, writtenAt: Date): string[][] {
  return Array.from(text.matchAll(WEEKDAY), ({ groups }) => {
    const name = groups?.['day'] ?? '';
    const weekday = Math.max(WEEKDAYS.indexOf(name), GERMAN_WEEKDAYS.indexOf(name));
    const back = (writtenAt.getUTCDay() - weekday + 7) % 7;
    const [before, after] = [addDays(writtenAt, -back), addDays(writtenAt, 7 - back)];
    if (groups?.['week'] !== undefined)
      return dayTerms(addDays(writtenAt, -mondayOffset(writtenAt) - 7 + ((weekday + 6) % 7)));
    const which = groups?.['which'] ?? '';
    if (/^(?:last|this past|letzt)/u.test(which)) return dayTerms(back === 0 ? addDays(before, -7) : before);
    if (which.startsWith('n')) return dayTerms(after);
    return which === '' || back === 0 ? dayTerms(before) : [...dayTerms(before), ...dayTerms(after)];
  });
}

function unitsIn(text: string, writtenAt: Date): string[][] {
  return [
    ...Array.from(text.matchAll(NEAR_UNIT), ({ groups }) => {
      const which = groups?.['which'] ?? '';
      const unit = groups?.['unit'] ?? '';
      const isNear = which === 'this' || (which.endsWith('the') && mondayOffset(writtenAt) >= 5);
      return unitTerms(writtenAt, unit, which === 'next' ? 1 : isNear ? 0 : -1);
    }),
    ...OTHER_UNITS.flatMap(([pattern, unit, steps]) => (pattern.test(text) ? [unitTerms(writtenAt, unit, steps)] : [])),
    ...Array.from(text.matchAll(AGO), ({ groups }) => {
      const direction = groups?.['where'] === 'from now' ? 1 : -1;
      const amounts = amountsOf(groups?.['amount'] ?? '');
      return amounts.flatMap((amount) => unitTerms(writtenAt, groups?.['unit'] ?? '', direction * amount));
    }),
  ];
}

/** Days since Monday. */
function mondayOffset(date: Date): number {
  return (date.getUTCDay() + 6) % 7;
}

function unitTerms(at: Date, unit: string, steps: number): string[] {
  const monday = addDays(at, 7 * steps - mondayOffset(at));
  switch (unit) {
    case 'day':
      return dayTerms(addDays(at, steps));
    case 'weekend':
      return [5, 6].flatMap((day) => dayTerms(addDays(monday, day)));
    case 'week':
      return Array.from({ length: 7 }, (_, day) => dayTerms(addDays(monday, day))).flat();
    case 'month':
      return monthTerms(at.getUTCFullYear(), at.getUTCMonth() + steps);
    default:
      return [`@${at.getUTCFullYear() + steps}`];
  }
}

/** Each number that may be meant. */
function amountsOf(words: string): readonly number[] {
  if (words.includes('couple')) return [2];
  if (words.includes('few')) return [2, 3, 4];
  if (/^an?$/u.test(words)) return [1];
  const named = NUMBERS.indexOf(words);
  return [named > 0 ? named : Number(words)];
}
