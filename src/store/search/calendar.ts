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

/** Monday of the week that is so many weeks after that of a date; with its time of day. */
export function mondayOf(date: Date, weeks: number): Date {
  return addDays(date, -((date.getUTCDay() + 6) % 7) + 7 * weeks);
}
