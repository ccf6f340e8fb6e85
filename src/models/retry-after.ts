/** After this the provider is asked again, however much longer it wants to be left alone: the server may be mistaken. Milliseconds. */
const LONGEST_WAIT = 86_400_000;

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};

/**
 * How long the provider wants to be left alone, in milliseconds: `retry-after-ms`, `retry-after`
 * (seconds or a date), a rate limit's reset when nothing remains, else the words of the body.
 * `undefined` when it does not say, or says something that cannot be waited for. A day at most.
 */
export function retryDelay(
  headers: Readonly<Record<string, string>>,
  texts: readonly string[],
  now: number,
): number | undefined {
  const candidates = [
    milliseconds(headers['retry-after-ms'], 1),
    fromRetryAfter(headers['retry-after'], now),
    fromReset(headers, now),
    ...texts.map(fromText),
  ];
  const asked = candidates.find((delay) => delay !== undefined && delay > 0);
  return asked === undefined ? undefined : Math.min(asked, LONGEST_WAIT);
}

function milliseconds(value: string | undefined, unit: number): number | undefined {
  if (value === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return undefined;
  return Math.ceil(Number(value) * unit);
}

function fromRetryAfter(value: string | undefined, now: number): number | undefined {
  return milliseconds(value, 1_000) ?? fromDate(value, now);
}

function fromDate(value: string | undefined, now: number): number | undefined {
  const date = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? undefined : date - now;
}

/** OpenAI and Groq give durations (`6m0s`), Anthropic dates; Azure may send -1 and 0. */
function fromReset(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const resets = Object.keys(headers).flatMap((name) => {
    const match = /^(x-ratelimit|anthropic-ratelimit)-(?:reset-(.+)|(.+)-reset)$/.exec(name);
    if (match === null) return [];
    const [, prefix, after, before] = match;
    const remaining = headers[after === undefined ? `${prefix}-${before}-remaining` : `${prefix}-remaining-${after}`];
    if (remaining?.trim() !== '0') return [];
    const value = headers[name];
    const delay = duration(value ?? '') ?? fromDate(value, now);
    return delay === undefined ? [] : [delay];
  });
  return resets.length === 0 ? undefined : Math.max(...resets);
}

/** "try again in 1m26.4s", "retry after 34.07 seconds", `retryDelay: "34s"` of Google. */
function fromText(text: string): number | undefined {
  const match =
    /(?:again|retry|wait|available|resets?)[a-z ]{0,20}?(?:in|after|for|within)?:? ?(\d[\d.]*\s*[a-z]+(?:\s*\d[\d.]*\s*[a-z]+)*)/.exec(
      text,
    );
  return duration(match?.[1] ?? (/^\d+(?:\.\d+)?s$/.test(text) ? text : ''));
}

function duration(text: string): number | undefined {
  const parts = [...text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)\s*([a-z]+)/g)].map(([, amount, unit = '']) => {
    const length = UNIT_MILLISECONDS[unit] ?? UNIT_MILLISECONDS[unit.replace(/s$/, '')];
    return length === undefined ? Number.NaN : Number(amount) * length;
  });
  const known = parts.filter((part) => !Number.isNaN(part));
  return known.length === 0 ? undefined : Math.ceil(known.reduce((sum, part) => sum + part, 0));
}
