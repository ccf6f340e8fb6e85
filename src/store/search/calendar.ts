const DAY_MILLISECONDS = 86_400_000;

/** Terms of a day: itself, its month, and the month of any year. */
export function dayTerms(date: Date): string[] {
  if (Number.isNaN(date.getTime())) return [];
  const day = date.toISOString().slice(0, 10);
  return [`@${day}`, `@${day.slice(0, 7)}`, `@${day.slice(4, 7)}`];
}

/** Terms of a month, counted from 0 and on into the years around. */
export function monthTerms(year: number, month: number): string[] {
  return dayTerms(new Date(Date.UTC(year, month, 1))).slice(1);
}

export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MILLISECONDS);
}

/** Without a year the nearest month of that name is meant. */
export function nearestYear(month: number, writtenAt: Date): number {
  const distance = month - writtenAt.getUTCMonth();
  if (distance > 6) return writtenAt.getUTCFullYear() - 1;
  return distance < -6 ? writtenAt.getUTCFullYear() + 1 : writtenAt.getUTCFullYear();
}

/** Words before a month or a season: of those without a year, which one is meant. */
export function directionOf(word: string): 'last' | 'since' | 'this' | 'next' | null {
  if (/^(?:last|this past|past|letzt|vorig|vergangen)/iu.test(word)) return 'last';
  if (/^(?:since|seit)/iu.test(word)) return 'since';
  if (/^(?:this|dies)/iu.test(word)) return 'this';
  return /^(?:next|nächst|kommend)/iu.test(word) ? 'next' : null;
}

/** The year of a month behind such a word: the last one is over, one since which something is has begun, the next one has not. */
export function yearOfMonth(month: number, word: string, writtenAt: Date): number {
  const [year, now] = [writtenAt.getUTCFullYear(), writtenAt.getUTCMonth()];
  switch (directionOf(word)) {
    case 'last':
      return month < now ? year : year - 1;
    case 'since':
      return month <= now ? year : year - 1;
    case 'next':
      return month > now ? year : year + 1;
    case 'this':
      return year;
    default:
      return nearestYear(month, writtenAt);
  }
}

/** Monday of the week that is so many weeks after that of a date; with its time of day. */
export function mondayOf(date: Date, weeks: number): Date {
  return addDays(date, -((date.getUTCDay() + 6) % 7) + 7 * weeks);
}
