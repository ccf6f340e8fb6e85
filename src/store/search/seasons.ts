import { directionOf, monthTerms } from './calendar.ts';

const SEASONS = ['spring', 'summer', 'fall', 'winter'];
/** March, June, September, December: where the seasons begin, months from 0. */
const FIRST_MONTHS = [2, 5, 8, 11];
const [MARCH, JULY, WINTER] = [2, 6, 11];

const SEASON =
  /\b(last|this past|past|this|next|in|during|over the|in the|during the|since|until|that|of|early|late|mid)[ -](spring|summer|fall|autumn|winter)(?:(?: of|,)? (\d{4}))?\b|\b(spring|summer|fall|autumn|winter)(?: of)? (\d{4})\b/giu;

/** Terms of the months of the seasons that a text names. */
export function seasonsIn(text: string, writtenAt: Date): string[] {
  return [...text.matchAll(SEASON)].flatMap(([, which = 'in', name, year, alone, yearAlone]) => {
    const season = SEASONS.indexOf((name ?? alone ?? '').toLowerCase().replace('autumn', 'fall'));
    const begin = FIRST_MONTHS[season] ?? 0;
    const named = year ?? yearAlone;
    const first = named === undefined ? yearOfSeason(begin, which.toLowerCase(), writtenAt) : Number(named);
    return [0, 1, 2].flatMap((month) => monthTerms(first, begin + month));
  });
}

/** In which it begins: winter in the year before that of its January. */
function yearOfSeason(begin: number, which: string, writtenAt: Date): number {
  const [year, month] = [writtenAt.getUTCFullYear(), writtenAt.getUTCMonth()];
  const hasEnded = (of: number): boolean => Date.UTC(of, begin + 3, 1) <= writtenAt.getTime();
  switch (directionOf(which)) {
    case 'next':
      return month < begin ? year : year + 1;
    case 'last':
      return hasEnded(year) ? year : hasEnded(year - 1) ? year - 1 : year - 2;
    case 'since':
      return month < begin ? year - 1 : year;
    case 'this':
      return begin === WINTER && month <= MARCH ? year - 1 : year;
    default:
      // Of two winters the nearer one.
      return begin === WINTER && month <= JULY ? year - 1 : year;
  }
}
