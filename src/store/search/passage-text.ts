import { foldAccents } from './words.ts';

const LONGEST_HEADING = 200;
/** Most texts have no heading, and this costs less to see than the patterns below. */
const MAYBE = /^\s*[[(\d]|[:>] |:\*\*|(?:said|says|wrote|asked|replied)\b/i;

const MONTH = String.raw`(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`;
const DAY = String.raw`(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH},? \d{4}|${MONTH} \d{1,2}(?:st|nd|rd|th)?,? \d{4})`;
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?`;
const TIME = String.raw`(?:${DAY}(?:(?:T|,? (?:at )?)${CLOCK}Z?)?|${CLOCK}(?:,? (?:on )?${DAY})?)`;
/** In brackets a time may stand beside a name; without brackets it needs a clock, for it may begin a sentence. */
const TIME_BEFORE = new RegExp(
  String.raw`^\s*(?:[[(](?:[\p{L} .]{1,40}, ?)?${TIME}(?:, ?[\p{L} .]{1,40})?[\])]|\d{4}-\d{2}-\d{2}[T ]${CLOCK}Z?|${TIME}(?=\s*[-–—|:]?\s*(?:\*\*)?\p{Lu}[\p{L} ]{0,40}:))[\s,|:–—-]*`,
  'iu',
);
const SPEAKER =
  /^\s*(?:[-*>] )?(?:\*\*|<)?(\p{Lu}[\p{L}\p{M}'’.-]{0,30}(?: \p{Lu}[\p{L}\p{M}'’.-]{0,30}){0,3}?)(?:\*\*|>)?(?:\s?[([][^)\]\n]{0,60}[)\]])?(?::(?:\*\*)?\s|(?<=>)\s|,? (?:said|says|wrote|asked|replied)[:,]\s)/u;
const DAY_WITHIN = new RegExp(DAY, 'iu');

/**
 * What a text says of itself before it begins: "[8 May 2023, 1:56 pm] Ada: …", "**Ada** (10:00): …", "Ada said: …". The speaker's name in
 * words of lower case; none: the heading names nobody.
 */
export function headingOf(text: string): { readonly speaker: readonly string[]; readonly saidAt: Date | null } {
  const beginning = text.slice(0, LONGEST_HEADING);
  if (!MAYBE.test(beginning)) return { speaker: [], saidAt: null };
  const time = TIME_BEFORE.exec(beginning)?.[0] ?? '';
  const name = SPEAKER.exec(beginning.slice(time.length))?.[1];
  return { speaker: name?.toLowerCase().split(/[ .]+/u) ?? [], saidAt: dayOf(time) };
}

function dayOf(time: string): Date | null {
  const day = DAY_WITHIN.exec(time)?.[0];
  if (day === undefined) return null;
  const isIso = /^\d{4}-/u.test(day);
  const at = Date.parse(isIso ? day : `${day.replaceAll(/(?<=\d)(?:st|nd|rd|th)\b| of\b|[.,]/giu, '')} UTC`);
  return Number.isNaN(at) ? null : new Date(at);
}

/** Letters by which words are compared: endings differ, beginnings mean the same. */
const COMPARED_LETTERS = 6;

const WORD = /[\p{L}\p{N}_]+/gu;
/** A stop needs two letters of one word before it: "Dr." ends no sentence. What people type instead of one (":)", an emoji) does. */
const SENTENCE_END =
  /(?<=(?:[\p{Ll}\p{N})"'”]{2}\.|\p{Lu}{2}\.|\.\.|[…!?。！？؟])["'”)\]]*)\s+|(?<=[:;=]-?[()DPp]|\p{Extended_Pictographic}\uFE0F?)\s+(?=\p{Lu})|(?<=[。！？])|\n+/u;
export const ASKS = /[?？؟]["'”’»)\]!\s]*$/u;

/** The sentence of a passage that has most of a query's words, by weight; without words the whole passage. */
export interface Statement {
  /** Beginnings of its words. */
  readonly words: ReadonlySet<string>;
  readonly isQuestion: boolean;
}

export function statementOf(
  text: string,
  matched: readonly { readonly terms: readonly string[]; readonly weight: number }[],
): Statement {
  const weights = new Map(
    matched.flatMap(({ terms, weight }) => terms.map((term) => [beginningOf(term), weight] as const)),
  );
  let best: Statement = { words: new Set(), isQuestion: false };
  let most = -1;
  for (const sentence of matched.length === 0 ? [text] : text.split(SENTENCE_END)) {
    const words = new Set(sentence.match(WORD)?.map(beginningOf));
    let weight = 0;
    for (const word of words) weight += weights.get(word) ?? 0;
    if (weight <= most || words.size === 0) continue;
    best = { words, isQuestion: ASKS.test(sentence) };
    most = weight;
  }
  return best;
}

export function beginningOf(word: string): string {
  return foldAccents(word.toLowerCase()).slice(0, COMPARED_LETTERS);
}
