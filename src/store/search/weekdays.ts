import { addDays, dayTerms, mondayOf } from './calendar.ts';

const ENGLISH = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const GERMAN = 'sonntag montag dienstag mittwoch donnerstag freitag samstag'.split(' ');
const CHINESE = Array.from('日一二三四五六');
const JAPANESE = Array.from('日月火水木金土');
const KOREAN = Array.from('일월화수목금토');

const DAY = `(?<day>${ENGLISH.join('|')})`;
const DAY_OR_SHORT = String.raw`(?<day>(?:${ENGLISH.join('|')})\b|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b\.?)`;
const WHICH = '(?<which>last|this past|past|this|next)';
/** Stands for the word before the day where none stands: "Tuesday morning". */
const PART_OF_DAY = 'part of day';
const PART = '(?:morning|afternoon|evening|night)';
const GERMAN_DAY = `(?<day>${GERMAN.join('|')})`;
const GERMAN_WHICH = '(?<which>vorletzte|letzte|vorige|diese|nächste|kommende)';
/** Part of another word, or of an amount: "last week together", "three days of last week". */
const NO_CHINESE_DAY = '(?!一[起直共定样樣下次个個天]|[二三四五六][十个個天次]|日[本元语語文])';

interface Reading {
  readonly pattern: RegExp;
  /** None: it is no day. Two: the one before or the one after may be meant. */
  readonly daysOf: (writtenAt: Date, day: string, which: string) => readonly Date[];
}

/** Those that name the week stand first: "on Tuesday last week" is not the Tuesday before. */
const READINGS: readonly Reading[] = [
  ofWeek(String.raw`\b${DAY},? (?:of )?${WHICH} week\b`),
  ofWeek(String.raw`\b${WHICH} week,? (?:on )?${DAY}\b`),
  ofWeek(String.raw`\b${GERMAN_DAY},? (?:in )?(?:der )?${GERMAN_WHICH}[nr]? Woche\b`),
  ofWeek(String.raw`\b${GERMAN_WHICH}[nr]? Woche,? (?:am )?${GERMAN_DAY}\b`),
  ofWeek(
    `(?<which>上上|上|这|這|本|下下|下)[个個]?(?:周|週|星期|礼拜|禮拜)${NO_CHINESE_DAY}(?<day>[${CHINESE.join('')}])`,
  ),
  ofWeek(`(?<which>先々|先|今|再来|来)週の?(?<day>[${JAPANESE.join('')}])曜`),
  ofWeek(`(?<which>지지난|지난|저번|이번|다음) ?주 ?(?<day>[${KOREAN.join('')}])요일`),
  nearest(String.raw`\bthe ${DAY} (?<which>before last)\b`),
  // "On Friday evenings" is no day.
  nearest(String.raw`\b(?<which>last|this past|this|next|on|coming) ${DAY_OR_SHORT}(?! ${PART}s\b)`),
  nearest(String.raw`\b(?<which>by) ${DAY}\b(?! ${PART}s\b)`),
  nearest(String.raw`\b${DAY} ${PART}\b`),
  nearest(String.raw`\b${GERMAN_WHICH}[nrsm]? ${GERMAN_DAY}\b`),
  nearest(String.raw`\b(?<which>am|bis) ${GERMAN_DAY}\b`),
  nearest(`(?<which>지난|저번|이번|다음) ?(?<day>[${KOREAN.join('')}]요일)`),
];

/** Words before a day that may be the one before or the one after. */
const EITHER = new Set(['on', 'am', 'this', 'diese', '이번']);

const WEEKS: Readonly<Record<string, number>> = {
  last: -1,
  past: -1,
  'this past': -1,
  next: 1,
  vorletzte: -2,
  letzte: -1,
  vorige: -1,
  nächste: 1,
  kommende: 1,
  上上: -2,
  上: -1,
  下: 1,
  下下: 2,
  지지난: -2,
  지난: -1,
  저번: -1,
  다음: 1,
  先々: -2,
  先: -1,
  来: 1,
  再来: 2,
};

/** Terms of the days of the week that a text names as seen from when it was written, and what it says besides. */
export function weekdaysIn(
  text: string,
  writtenAt: Date,
): { readonly terms: readonly string[]; readonly rest: string } {
  const terms: string[] = [];
  let rest = text;
  for (const { pattern, daysOf } of READINGS) {
    if (rest.search(pattern) < 0) continue;
    for (const { groups } of rest.matchAll(pattern)) {
      const days = daysOf(writtenAt, groups?.['day'] ?? '', groups?.['which']?.toLowerCase() ?? PART_OF_DAY);
      terms.push(...days.flatMap(dayTerms));
    }
    // The week that a day is of is not meant as a whole.
    rest = rest.replaceAll(pattern, ' ');
  }
  return { terms, rest };
}

function ofWeek(pattern: string): Reading {
  return {
    pattern: new RegExp(pattern, 'giu'),
    daysOf: (writtenAt, day, which) => [addDays(mondayOf(writtenAt, WEEKS[which] ?? 0), (weekdayOf(day) + 6) % 7)],
  };
}

/** Of all days of that name the nearest one before or after. */
function nearest(pattern: string): Reading {
  return {
    pattern: new RegExp(pattern, 'giu'),
    daysOf: (writtenAt, day, which) => {
      // Short ones without a capital are words of their own: "on sat", "this sun".
      const isWhole = /(?:day|tag|mittwoch|요일)$/iu.test(day);
      return isWhole || /^\p{Lu}/u.test(day) ? nearWeekdays(writtenAt, which, weekdayOf(day)) : [];
    },
  };
}

function nearWeekdays(writtenAt: Date, which: string, weekday: number): readonly Date[] {
  const back = (writtenAt.getUTCDay() - weekday + 7) % 7;
  const [before, after] = [addDays(writtenAt, -back), addDays(writtenAt, (7 - back) % 7)];
  // "We met on Friday" and "we ship on Friday", "this Friday" too: the tense alone would tell.
  if (EITHER.has(which)) return back === 0 ? [before] : [before, after];
  if (which === PART_OF_DAY) return [before];
  const weeks = which === 'before last' ? -2 : (WEEKS[which] ?? 0);
  if (weeks > 0) return [addDays(writtenAt, 7 - back)];
  return [weeks < 0 ? addDays(writtenAt, 7 * (weeks + 1) - (back === 0 ? 7 : back)) : after];
}

function weekdayOf(name: string): number {
  const begin = name.toLowerCase().replace('요일', '').slice(0, 3);
  const known = [ENGLISH, GERMAN, CHINESE, JAPANESE, KOREAN].find((names) =>
    names.some((each) => each.startsWith(begin)),
  );
  return (known ?? ENGLISH).findIndex((each) => each.startsWith(begin));
}
