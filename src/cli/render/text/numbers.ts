/** `24310` → `24,310`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/gu, ',');
}

/** `31204` → `31.2k`, for places where width is scarce. */
export function formatShortCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 99_950) return `${(count / 1_000).toFixed(1)}k`;
  return count < 999_500 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** Bytes in steps of 1,024. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_024 ** 2) return `${(bytes / 1_024).toFixed(1)} KB`;
  return `${(bytes / 1_024 ** 2).toFixed(1)} MB`;
}

/** `4130` → `4.1 s`, `75000` → `1 min 15 s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Dollars; `null` is said to be unknown, never shown as 0. */
export function formatCost(dollars: number | null): string {
  if (dollars === null) return 'cost unknown';
  return dollars === 0 || dollars >= 0.995 ? `$${dollars.toFixed(2)}` : `$${dollars.toFixed(4)}`;
}

export function formatPercent(part: number, whole: number): string {
  return whole > 0 ? `${Math.round((part / whole) * 100)} %` : '–';
}

/** How long ago, in the largest unit that fits. */
export function formatAge(isoTime: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(isoTime)) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** How soon, in the largest unit that fits; rounded down, so that nobody is too late. */
export function formatTimeLeft(isoTime: string, now: number): string {
  const seconds = Math.floor((Date.parse(isoTime) - now) / 1_000);
  if (seconds < 0) return 'now';
  if (seconds < 60) return `in ${seconds} s`;
  if (seconds < 3_600) return `in ${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `in ${Math.floor(seconds / 3_600)} h`;
  return `in ${Math.floor(seconds / 86_400)} d`;
}

/** `12:03:20` where the reader is; with its day, when that is another one than today. Both in milliseconds since 1970. */
export function formatClock(at: number, now: number): string {
  const [date, today] = [new Date(at), new Date(now)];
  const pad = (number: number): string => String(number).padStart(2, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(':');
  if (date.toDateString() === today.toDateString()) return clock;
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${clock}`;
}

/** `1 step`, `2 steps`. */
export function plural(count: number, singular: string, many = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : many}`;
}

const EIGHTHS = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of `columns` columns, filled to eighths of a column. @param fraction 0 to 1; more is drawn as full. */
export function drawBar(fraction: number, columns: number): { readonly filled: string; readonly empty: string } {
  const eighths = Math.round(Math.min(1, Math.max(0, fraction)) * columns * 8);
  const whole = Math.floor(eighths / 8);
  const part = eighths % 8 === 0 ? '' : (EIGHTHS[eighths % 8] ?? '');
  return { filled: '█'.repeat(whole) + part, empty: ' '.repeat(columns - whole - part.length) };
}
