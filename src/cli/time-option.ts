import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads a day, which begins at 0:00 UTC, a time, or how long ago. @returns an ISO time @throws InvalidArgumentError */
export function time(text: string): string {
  const [, amount, unit = ''] = /^(\d{1,5})([mhdw])$/u.exec(text) ?? [];
  if (amount !== undefined) return new Date(Date.now() - Number(amount) * (UNITS[unit] ?? 0)).toISOString();
  const [day = ''] = /^\d{4}-\d{2}-\d{2}/u.exec(text) ?? [];
  const [at, midnight] = [new Date(text), new Date(day)];
  const isKnown = !Number.isNaN(at.getTime()) && !Number.isNaN(midnight.getTime());
  // A day that the month does not have would count into the next one.
  if (isKnown && midnight.toISOString().startsWith(day)) return at.toISOString();
  throw new InvalidArgumentError('It takes a day like 2026-11-01, a time like 2026-11-01T08:00Z, or 30m, 12h, 7d, 4w.');
}
