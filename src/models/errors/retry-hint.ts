/** After this the provider is asked again, however much longer it wants to be left alone: the server may be mistaken. Milliseconds. */
const LONGEST_WAIT = 86_400_000;

/** Milliseconds, by the first letter. */
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION =
  /(?<!\d)(\d+(?:\.\d+)?)\s*((ms|millis\w*)|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])/g;

/** `x-ratelimit-reset-tokens` (OpenAI), `anthropic-ratelimit-tokens-reset`, `x-ratelimit-reset` (OpenRouter). */
const RESET = /^(?:x-ratelimit|anthropic-ratelimit)-(?:reset-.+|.+-reset|reset)$/;

/** "try again in 1m26.4s", "retry after 34 seconds"; the property `retryDelay: "34s"` of Google stands alone on its line. */
const WORDS =
  /(?:again|retry|wait|available|resets?)[a-z ]{0,20}?(?:in|after|for|within)?:? ?(\d[\d.]{0,12} ?[a-z]{1,12}(?: ?\d[\d.]{0,12} ?[a-z]{1,12}){0,3})|^(\d+(?:\.\d+)?s)$/m;

/**
 * How long the provider wants to be left alone, in milliseconds: `retry-after-ms`, `retry-after`
 * (seconds or a date), a rate limit's reset when nothing remains, else the words of the body.
 * `undefined` when it does not say, or says something that cannot be waited for. A day at most.
 */
export function retryHint(
  { headers, text }: { readonly headers: Readonly<Record<string, string>>; readonly text: string },
  now: number,
): number | undefined {
  const words = WORDS.exec(text);
  // Of several limits the one that resets last counts.
  const resets = Object.entries(headers)
    .filter(([name]) => RESET.test(name) && headers[name.replace('reset', 'remaining')]?.trim() === '0')
    .map(([, value]) => duration(value) ?? delayOf(value, 1_000, now) ?? 0);
  const asked = [
    delayOf(headers['retry-after-ms'], 1, now),
    delayOf(headers['retry-after'], 1_000, now),
    Math.max(0, ...resets),
    duration(words?.[1] ?? words?.[2] ?? ''),
  ].find((delay) => delay !== undefined && delay > 0);
  return asked && Math.min(asked, LONGEST_WAIT);
}

/** Of a number in a unit of milliseconds, a date in words, or OpenRouter's milliseconds since 1970. */
function delayOf(value: string | undefined, unit: number, now: number): number | undefined {
  const number = Number(value?.trim() || Number.NaN);
  if (number >= 0 && !/^\d{13}$/.test(value ?? '')) return Math.ceil(number * unit);
  const date = number >= 0 ? number : Date.parse(value ?? '');
  return Number.isNaN(date) ? undefined : date - now;
}

function duration(text: string): number | undefined {
  const parts = [...text.matchAll(DURATION)].map(
    ([, amount, unit, isMilliseconds]) => Number(amount) * (isMilliseconds ? 1 : (UNITS[unit?.[0] ?? ''] ?? 0)),
  );
  return parts.length === 0 ? undefined : Math.ceil(parts.reduce((sum, part) => sum + part, 0));
}
