import { addDays, dayTerms, nearestYear } from './calendar.ts';

type Holiday = (year: number) => Date;

function fixed(month: number, day: number): Holiday {
  return (year) => new Date(Date.UTC(year, month - 1, day));
}

const HOLIDAYS: Readonly<Record<string, Holiday>> = {
  'christmas eve': fixed(12, 24),
  heiligabend: fixed(12, 24),
  christmas: fixed(12, 25),
  xmas: fixed(12, 25),
  weihnachten: fixed(12, 25),
  圣诞节: fixed(12, 25),
  "new year's eve": fixed(12, 31),
  silvester: fixed(12, 31),
  "new year's": fixed(1, 1),
  neujahr: fixed(1, 1),
  元旦: fixed(1, 1),
  halloween: fixed(10, 31),
  "valentine's day": fixed(2, 14),
  thanksgiving: (year) => fourthThursday(year, 10),
  easter: easterOf,
  ostern: easterOf,
};
const NAMED = new RegExp(
  String.raw`(?:\b(last|next) )?(${Object.keys(HOLIDAYS).join('|').replaceAll("'", "['’]?")})(?![a-z])(?: day)?(?:(?: of|,| in)? (\d{4})\b)?`,
  'giu',
);

/** Terms of the holidays that a text names; without a year, the nearest. */
export function holidayTermsOf(text: string, writtenAt: Date): string[] {
  return [...text.matchAll(NAMED)].flatMap(([, which, name = '', year]) => {
    const holiday = HOLIDAYS[name.toLowerCase().replaceAll('’', "'")] ?? HOLIDAYS[withApostrophe(name.toLowerCase())];
    if (holiday === undefined) return [];
    if (year !== undefined) return dayTerms(holiday(Number(year)));
    const thisYear = writtenAt.getUTCFullYear();
    const isPast = holiday(thisYear).getTime() < writtenAt.getTime();
    if (which?.toLowerCase() === 'last') return dayTerms(holiday(isPast ? thisYear : thisYear - 1));
    if (which?.toLowerCase() === 'next') return dayTerms(holiday(isPast ? thisYear + 1 : thisYear));
    return dayTerms(holiday(nearestYear(holiday(thisYear).getUTCMonth(), writtenAt)));
  });
}

/** "New Years Eve" */
function withApostrophe(name: string): string {
  return name.replace(/(?<=year|valentine)s/u, "'s");
}

function fourthThursday(year: number, month: number): Date {
  const first = new Date(Date.UTC(year, month, 1));
  return addDays(first, ((11 - first.getUTCDay()) % 7) + 21);
}

/** The Gregorian computus as Meeus, Jones and Butcher give it. */
function easterOf(year: number): Date {
  const golden = year % 19;
  const century = Math.floor(year / 100);
  const skipped = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const epact = (19 * golden + century - Math.floor(century / 4) - skipped + 15) % 30;
  const weekday = (32 + 2 * (century % 4) + 2 * Math.floor((year % 100) / 4) - epact - ((year % 100) % 4)) % 7;
  const correction = Math.floor((golden + 11 * epact + 22 * weekday) / 451);
  const sum = epact + weekday - 7 * correction + 114;
  return new Date(Date.UTC(year, Math.floor(sum / 31) - 1, (sum % 31) + 1));
}
