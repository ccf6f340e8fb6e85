/** What a text says of itself before it begins: who says it, and when. */
export interface Heading {
  /** Words of the name in lower case; empty: nobody is named. */
  readonly speaker: readonly string[];
  /** `null`: it names no day. */
  readonly saidAt: Date | null;
  /** Where the text itself begins. */
  readonly length: number;
}

/** Characters of a text that are looked at. */
const LONGEST_HEADING = 200;

const MONTH_NAMES = 'january february march april may june july august september october november december'.split(' ');

const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?`;
const ISO_DAY = String.raw`\d{4}-\d{2}-\d{2}`;
const MONTH = String.raw`(?:${MONTH_NAMES.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')})\.?`;
const NAMED_DAY = String.raw`(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH},? \d{4}|${MONTH} \d{1,2}(?:st|nd|rd|th)?,? \d{4})`;
const DAY = String.raw`(?:${ISO_DAY}|${NAMED_DAY})`;
/** A day, with the clock or without. */
const TIME = String.raw`(?:${DAY}(?:(?:T|,? (?:at )?)${CLOCK}Z?)?|${CLOCK}(?:,? (?:on )?${DAY})?)`;
const SPACE = String.raw`[\s,|–—-]*`;
/** In brackets, with what else stands there; not in brackets it may begin a sentence, unless it is written for machines … */
const CERTAIN_TIME = new RegExp(String.raw`^\s*(?:[[(][^\])\n]{0,80}[\])]|${ISO_DAY}[T ]${CLOCK}Z?)${SPACE}`, 'iu');
/** … or a name follows. */
const TIME_BEFORE_NAME = new RegExp(
  String.raw`^\s*(?:(?:date|time): ?)?(?:${TIME}|#?[a-z]{0,2}\d+(?:[.:]\d+)*[.):]?(?= ))${SPACE}`,
  'iu',
);
const SPEAKER =
  /^\s*(?:[-*>] )?(?:\*\*|<)?(\p{Lu}[\p{L}\p{M}'’.-]{0,30}(?: \p{Lu}[\p{L}\p{M}'’.-]{0,30}){0,3}?)(?:\*\*|>)?(?:\s?[([][^)\]\n]{0,60}[)\]])?(?::(?:\*\*)?\s|(?<=>)\s|,? (?:said|says|wrote|asked|replied)(?: on [^:,\n]{0,40})?[:,]\s)/u;
/** Most texts have nothing of the kind, which costs less to see than the patterns above. */
const MAYBE = /^\s*[[(\d]|[:>] |:\*\*|^\s*date:|(?:said|says|wrote|asked|replied)\b/i;
const NO_HEADING: Heading = { speaker: [], saidAt: null, length: 0 };
const DAY_WITHIN = new RegExp(DAY, 'iu');

/** `Name: …`, also behind or before a time: "[2026-03-05 10:00] Ada: …", "**Ada** (10:00): …", "Ada said: …". */
export function headingOf(text: string): Heading {
  const beginning = text.slice(0, LONGEST_HEADING);
  if (!MAYBE.test(beginning)) return NO_HEADING;
  const certain = CERTAIN_TIME.exec(beginning)?.[0] ?? '';
  const possible = TIME_BEFORE_NAME.exec(beginning.slice(certain.length))?.[0] ?? '';
  for (const before of possible === '' ? [certain] : [certain + possible, certain]) {
    const named = SPEAKER.exec(beginning.slice(before.length));
    if (named === null && before !== certain) continue;
    const heading = before + (named?.[0] ?? '');
    return { speaker: wordsOfName(named?.[1]), saidAt: dayOf(heading), length: heading.length };
  }
  return NO_HEADING;
}

function wordsOfName(name: string | undefined): readonly string[] {
  return name?.toLowerCase().split(/[ .]+/u) ?? [];
}

function dayOf(heading: string): Date | null {
  const day = DAY_WITHIN.exec(heading)?.[0];
  if (day === undefined) return null;
  const time = Date.parse(
    /^\d{4}-/u.test(day) ? day : `${day.replaceAll(/(?<=\d)(?:st|nd|rd|th)\b| of\b|[.,]/giu, '')} UTC`,
  );
  return Number.isNaN(time) ? null : new Date(time);
}
