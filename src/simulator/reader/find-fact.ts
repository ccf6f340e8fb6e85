import type { FactQuestion } from './fact-question.ts';
import type { Segment } from './file-text.ts';

/**
 * What a search for a fact says: found, certainly not in the file (all of it was seen), or unknown
 * (the part that would tell is not in view).
 */
export type Finding =
  | { readonly state: 'found'; readonly value: string }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown' };

const UNKNOWN: Finding = { state: 'unknown' };

/** An anchor of so many characters is taken to stand in the file once, so a find in the middle of the file counts. */
const UNIQUE_ANCHOR_CHARACTERS = 8;

/** Characters behind an anchor in which its number must begin. */
const NUMBER_REACH = 200;

const NUMBER = /[-+]?\d(?:[\d.,_]*\d)?/;

/**
 * Looks for a fact in what is known of a file. Of several occurrences the first one in the file counts, so a
 * segment that does not reach back to the start answers only questions whose anchor stands there once.
 */
export function findFact(question: FactQuestion, segments: readonly Segment[]): Finding {
  const first = segments[0];
  const isWhole = segments.length === 1 && first?.fromStart === true && first.toEnd;
  for (const segment of segments) {
    if (!isTrusted(question, segment)) continue;
    const value = lookIn(question, segment);
    if (value !== undefined) return { state: 'found', value };
  }
  return isWhole ? { state: 'absent' } : UNKNOWN;
}

function isTrusted(question: FactQuestion, segment: Segment): boolean {
  switch (question.kind) {
    case 'value':
      return segment.fromStart;
    case 'text_after':
    case 'number_after':
    case 'number_before':
      return segment.fromStart || question.anchor.length >= UNIQUE_ANCHOR_CHARACTERS;
    case 'first_sentence':
    case 'first_heading':
    case 'first_line':
      return segment.fromStart;
    case 'last_line':
      return segment.toEnd;
    case 'line':
      return segment.firstLine !== undefined;
  }
}

function lookIn(question: FactQuestion, segment: Segment): string | undefined {
  const { text } = segment;
  switch (question.kind) {
    case 'value':
      return valueOf(text, question.key);
    case 'text_after':
      return after(text, question.anchor)?.split('\n')[0]?.trim();
    case 'number_after':
      return after(text, question.anchor)?.slice(0, NUMBER_REACH).match(NUMBER)?.[0];
    case 'number_before':
      return lineBefore(text, question.anchor)?.match(new RegExp(NUMBER, 'g'))?.at(-1);
    case 'first_sentence':
      return firstSentence(segment);
    case 'first_heading':
      return /^#{1,6} +(.+?)\s*#*$/m.exec(text)?.[1];
    case 'first_line':
      return text
        .split('\n')
        .find((line) => line.trim() !== '')
        ?.trim();
    case 'last_line':
      return text
        .split('\n')
        .findLast((line) => line.trim() !== '')
        ?.trim();
    case 'line':
      return segment.firstLine === undefined || question.number < segment.firstLine
        ? undefined
        : text.split('\n')[question.number - segment.firstLine]?.trim();
  }
}

function after(text: string, anchor: string): string | undefined {
  const index = text.indexOf(anchor);
  return index === -1 ? undefined : text.slice(index + anchor.length);
}

function lineBefore(text: string, anchor: string): string | undefined {
  const index = text.indexOf(anchor);
  return index === -1 ? undefined : text.slice(text.lastIndexOf('\n', index) + 1, index);
}

/** `"key": "value"`, `key: value`, `key = value`; a JSON string loses its quotes, an object or array is taken as written. */
function valueOf(text: string, key: string): string | undefined {
  const escaped = key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const json = new RegExp(`"${escaped}"\\s*:\\s*`).exec(text);
  if (json !== null) return jsonValue(text.slice(json.index + json[0].length));
  const line = new RegExp(`^[ \\t]*["'\`]?${escaped}["'\`]?[ \\t]*[:=][ \\t]*(.*)$`, 'm').exec(text)?.[1];
  return line?.trim().replace(/^(["'])(.*)\1,?$/, '$2');
}

function jsonValue(rest: string): string | undefined {
  const string = /^"(?:[^"\\\n]|\\.)*"/.exec(rest)?.[0];
  if (string !== undefined) return unquoted(string);
  if (!/^[[{]/.test(rest)) return /^[^,\n}\]]+/.exec(rest)?.[0].trim();
  for (let end = 1; end <= rest.length; end += 1) {
    const last = rest.charAt(end - 1);
    if (last !== '}' && last !== ']') continue;
    try {
      return JSON.stringify(JSON.parse(rest.slice(0, end)));
    } catch {
      // The value goes on behind this bracket.
    }
  }
  return undefined;
}

function unquoted(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    // Not quite JSON, as in a README's example: the words between the quotes.
    return json.slice(1, -1);
  }
}

/** Lines that open no paragraph of prose: headings, badges, HTML, tables, quotes, lists, fences, underlines. */
const NOT_PROSE =
  /^\s*(?:#|<|!\[|\[!|\[[^\]]*\]:|\||>|[-*+]\s|[-=*_]{3,}\s*$|```|~~~|\d+[.)]\s|\[[^\]]*\]\([^)]*\)\s*$)/;

/**
 * The first sentence of the first paragraph of prose, on one line: up to the first `.`, `!` or `?` that white
 * space or the paragraph's end follows. `undefined` when the paragraph is cut off before the sentence ends.
 */
function firstSentence(segment: Segment): string | undefined {
  const paragraph: string[] = [];
  let fenced = false;
  let ended = false;
  for (const line of segment.text.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    const isProse = !fenced && line.trim() !== '' && !NOT_PROSE.test(line);
    if (isProse) paragraph.push(line.trim());
    else if (paragraph.length > 0) {
      ended = true;
      break;
    }
  }
  const text = paragraph.join(' ').replace(/\s+/g, ' ');
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0];
  if (sentence !== undefined) return sentence;
  return ended || segment.toEnd ? text || undefined : undefined;
}
