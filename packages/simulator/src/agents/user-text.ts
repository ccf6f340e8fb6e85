/**
 * What a text in the user's role is: the user's own words, a summary of what was compacted away, or a note that
 * software added. Software marks its own texts: in brackets, in tags, or by speaking of the context.
 */
export type UserTextKind = 'message' | 'summary' | 'note';

/** How far into a text its announcement may stand, in characters. */
const ANNOUNCEMENT_CHARACTERS = 400;

const SUMMARY_ANNOUNCED = /\b(summary|summari[sz]ed|checkpoint|hand-?off)\b/i;
const HEADING = /^(?:#{1,4} +\S|[A-Z][A-Z &/-]{3,40}:)/gm;

/** A text that begins as software begins its texts: `[Status: …`, `<system-reminder>`. */
const SOFTWARE_BEGINS = /^\s*(?:\[[^\]\n]{2,}|<[a-z][\w-]*(?: [^>]*)?>)/;

/** Words about the context itself, which users do not use. */
const SPEAKS_OF_CONTEXT =
  /\b(context|conversation|history|earlier (messages|entries))\b[^.\n]{0,120}\b(compact(ed|ion)|summari[sz]ed|shortened|truncated|removed|cleared)\b|\b(compact(ed|ion)|summari[sz]ed|shortened)\b[^.\n]{0,80}\b(context|conversation|history)\b/i;

/** A heading of software's on a line of its own, at the start of a paragraph. */
const SOFTWARE_HEADING = /(?:^|\n[ \t]*\n)(\[[A-Z][^\]\n]{2,60}\])[ \t]*(?=\n|$)/;
const SUMMARY_HEADING = /^\s*\[[^\]\n]*\bsummary\b[^\]\n]*\][ \t]*\n/i;
const SUMMARY_END = /\n\[end of summary\][^\n]*(?:\n[^\n]+)*/i;

/**
 * Takes apart what one message of the user's role joins: many servers take one text only, so callers put a summary,
 * the user's own words and notes into it with blank lines between. A summary reaches to its end mark, a note to
 * the next blank line.
 */
export function splitUserText(text: string): readonly string[] {
  if (text.trim() === '') return [];
  if (SUMMARY_HEADING.test(text)) {
    const end = SUMMARY_END.exec(text);
    if (end === null) return [text];
    const length = end.index + end[0].length;
    return [text.slice(0, length), ...splitUserText(text.slice(length))];
  }
  const heading = SOFTWARE_HEADING.exec(text);
  if (heading?.[1] === undefined) return [text.trim()];
  const start = heading.index + heading[0].length - heading[1].length;
  const before = text.slice(0, start).trim();
  const rest = text.slice(start);
  if (SUMMARY_HEADING.test(rest)) return [...(before === '' ? [] : [before]), ...splitUserText(rest)];
  // The heading may be a paragraph of its own, and the note the one behind it.
  const note = /^[^\n]*(?:\n[ \t]*)*\n?(?:[^\n]*\S[^\n]*(?:\n|$))*/.exec(rest)?.[0] ?? rest;
  return [...(before === '' ? [] : [before]), note.trim(), ...splitUserText(rest.slice(note.length))];
}

export function classifyUserText(text: string): UserTextKind {
  if (isSummary(text)) return 'summary';
  if (SOFTWARE_BEGINS.test(text) || SPEAKS_OF_CONTEXT.test(text.slice(0, ANNOUNCEMENT_CHARACTERS))) return 'note';
  return 'message';
}

function isSummary(text: string): boolean {
  if (/^\s*(?:\[[^\]\n]*\bsummary\b[^\]\n]*\]|<[\w-]*summary\b)/i.test(text)) return true;
  const headings = text.match(HEADING)?.length ?? 0;
  return headings >= 2 && SUMMARY_ANNOUNCED.test(text.slice(0, ANNOUNCEMENT_CHARACTERS));
}

/** An order to go on, at the start of a sentence. */
const GO_ON =
  /(?:^|[.!?:;\]>)]\s*|\n\s*[-*]?\s*)(?:please |now |so )?(?:continue|carry on|go on|keep (?:going|working)|proceed|resume|pick up)\b|\bdo not (?:stop|finish|end|(?:produce|give) (?:an?y? )?final)\b|\bdon't stop\b/i;

/** Whether a text tells the model to go on with its work after its context was shortened. */
export function tellsToGoOn(text: string): boolean {
  return GO_ON.test(text);
}
