const whole = new Intl.NumberFormat('en');
const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

export function count(number: number): string {
  return whole.format(number);
}

/** A number with its noun, as in `1 entry`, `2 entries`. */
export function counted(number: number, one: string, more = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : more}`;
}

export function tokens(number: number): string {
  return number < 10_000 ? count(number) : `${(number / 1_000).toFixed(number < 100_000 ? 1 : 0)}k`;
}

export function percent(part: number, total: number): string {
  return total === 0 ? '–' : `${Math.round((part / total) * 100)}\u00A0%`;
}

export function dollars(cost: number | null): string {
  if (cost === null) return 'cost unknown';
  return `$${cost.toFixed(cost !== 0 && cost < 0.01 ? 4 : 2)}`;
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1_000)} s`;
}

/** The time of day for today, with the day before. */
export function moment(iso: string): string {
  const date = new Date(iso);
  return date.toDateString() === new Date().toDateString() ? time.format(date) : day.format(date);
}
