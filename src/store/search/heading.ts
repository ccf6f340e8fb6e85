import type { PassageKind } from './found-passage.ts';

interface Written {
  readonly kind: PassageKind;
  readonly createdAt: Date;
}

/** What a text says of itself before it begins: who says it, and when. */
export interface Heading {
  /** Words of the name in lower case; empty: nobody is named. */
  readonly speaker: readonly string[];
  /** `null`: it names no day. It may be one to come: see `pastTimeOf`. */
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
/** In brackets; not in brackets it may begin a sentence, unless it is written for machines … */
const CERTAIN_TIME = new RegExp(String.raw`^\s*(?:[[(][^\])\n]{0,80}[\])]|${ISO_DAY}[T ]${CLOCK}Z?)${SPACE}`, 'iu');
/** … or a name follows. */
const TIME_BEFORE_NAME = new RegExp(
  String.raw`^\s*(?:(?:date|time): ?)?(?:${TIME}|#?[a-z]{0,2}\d+(?:[.:]\d+)*[.):]?(?= ))${SPACE}`,
  'iu',
);
const SPEAKER =
  /^\s*(?:[-*>] )?(?:\*\*|<)?(\p{Lu}[\p{L}\p{M}'’.-]{0,30}(?: \p{Lu}[\p{L}\p{M}'’.-]{0,30}){0,3}?)(?:\*\*|>)?(?:\s?[([][^)\]\n]{0,60}[)\]])?(?::(?:\*\*)?\s|(?<=>)\s|,? (?:said|says|wrote|asked|replied)(?: on [^:,\n]{0,40})?[:,]\s)/u;
/** Names of what is said, not of who says it: "Correction: …", "Final answer: …". The last word counts. */
const LABELS = new Set(
  [
    'correction corrections update updates edit edited note notes fyi nb ps pps todo fixme error errors warning warnings fix',
    'answer question info information reminder important attention caution danger result results summary tldr example hint tip',
    'status decision reason context background conclusion erratum addendum clarification subject re fwd fw news idea fact facts',
    'korrektur berichtigung nachtrag aktualisierung hinweis achtung wichtig frage antwort fehler warnung ergebnis beispiel info',
    'rectification précision remarque attention réponse erreur corrección actualización nota importante pregunta respuesta',
    'correzione aggiornamento domanda risposta correção atualização pergunta resposta correctie vraag antwoord',
  ].flatMap((words) => words.split(' ')),
);
const LABEL = /^\s*(?:\*\*)?(\p{L}[\p{L}\p{M}.]*(?: \p{L}[\p{L}\p{M}.]*)?)(?:\*\*)?:(?:\*\*)?\s+/u;
/** Most texts have nothing of the kind, which costs less to see than the patterns above. */
const MAYBE = /^\s*[[(\d]|[:>] |:\*\*|^\s*date:|(?:said|says|wrote|asked|replied)\b/i;
const NO_HEADING: Heading = { speaker: [], saidAt: null, length: 0 };
const DAY_WITHIN = new RegExp(DAY, 'iu');
const BRACKETS = /[[(]([^\])\n]*)[\])]/gu;
const WEEKDAY = String.raw`(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?`;
const ZONE = String.raw`(?:\s?(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?| (?:UTC|GMT))`;
const TIME_ALONE = new RegExp(String.raw`(?:(?:date|time): ?)?(?:\b${WEEKDAY} )?${TIME}${ZONE}?`, 'iu');
const CLOCK_WITHIN = new RegExp(CLOCK, 'iu');
const NAME = String.raw`\p{Lu}[\p{L}\p{M}'’.-]*(?: \p{Lu}[\p{L}\p{M}'’.-]*){0,2}`;
const CUT = String.raw`\s*[,|–—-]\s*`;
/** What may stand beside a day in brackets … */
const NAME_BEHIND = new RegExp(String.raw`^(?:[\s,|–—-]*|${CUT}${NAME}\s*)$`, 'u');
/** … and beside one with a clock: "[Ada, 8 May 2023 10:00]". */
const NAME_BESIDE = new RegExp(String.raw`^(?:[\s,|–—-]*|${NAME}${CUT}|${CUT}${NAME}\s*)$`, 'u');

/** `Name: …`, also behind or before a time: "[2026-03-05 10:00] Ada: …", "**Ada** (10:00): …", "Ada said: …". */
export function headingOf(text: string): Heading {
  const beginning = text.slice(0, LONGEST_HEADING);
  if (!MAYBE.test(beginning)) return NO_HEADING;
  const certain = CERTAIN_TIME.exec(beginning)?.[0] ?? '';
  const possible = TIME_BEFORE_NAME.exec(beginning.slice(certain.length))?.[0] ?? '';
  for (const before of possible === '' ? [certain] : [certain + possible, certain]) {
    const named = SPEAKER.exec(beginning.slice(before.length));
    if (named === null && before !== certain) continue;
    // A label is not part of the heading: "Correction: …" tells something of what follows.
    const name = named === null || isLabel(named[1]) ? null : named;
    const heading = before + (name?.[0] ?? '');
    return { speaker: wordsOfName(name?.[1]), saidAt: dayOf(heading), length: heading.length };
  }
  return NO_HEADING;
}

/** With what colon and space a sentence says what it is: "Correction: "; empty: it does not. */
export function labelOf(sentence: string): string {
  const [label, words] = LABEL.exec(sentence) ?? [];
  return label !== undefined && isLabel(words) ? label : '';
}

/** When it was said by its heading; `null` when that does not say. Nothing was said later than it was written: that is what it is about. */
export function pastTimeOf({ saidAt }: Heading, writtenAt: Date): Date | null {
  return saidAt !== null && saidAt <= writtenAt ? saidAt : null;
}

/** The same of what user and assistant say. A tool's output that begins with a time was not said then: it is a log or a file. */
export function saidAtOf({ kind, createdAt }: Written, heading: Heading): Date | null {
  return kind === 'user' || kind === 'assistant' ? pastTimeOf(heading, createdAt) : null;
}

function isLabel(words: string | undefined): boolean {
  const last = words?.toLowerCase().replaceAll('.', '').split(' ').at(-1);
  return last !== undefined && LABELS.has(last);
}

function wordsOfName(name: string | undefined): readonly string[] {
  return name?.toLowerCase().split(/[ .]+/u) ?? [];
}

function dayOf(heading: string): Date | null {
  const day = DAY_WITHIN.exec(heading.replaceAll(BRACKETS, (all, within: string) => (isTime(within) ? all : '')))?.[0];
  if (day === undefined) return null;
  const time = Date.parse(
    /^\d{4}-/u.test(day) ? day : `${day.replaceAll(/(?<=\d)(?:st|nd|rd|th)\b| of\b|[.,]/giu, '')} UTC`,
  );
  return Number.isNaN(time) ? null : new Date(time);
}

/** "[re: minutes of 2019-01-01]" and "(due May 5, 2031)" name what a text is about, not when it was said. */
function isTime(within: string): boolean {
  const time = TIME_ALONE.exec(within)?.[0];
  if (time === undefined) return false;
  return (CLOCK_WITHIN.test(time) ? NAME_BESIDE : NAME_BEHIND).test(within.replace(time, ''));
}
