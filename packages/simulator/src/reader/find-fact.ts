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
      return segment.fromStart || topLevelKey(question.key).test(segment.text);
    case 'number_after':
    case 'number_before':
      return segment.fromStart || question.anchor.length >= UNIQUE_ANCHOR_CHARACTERS;
    case 'first_sentence':
    case 'first_heading':
      return segment.fromStart;
    case 'own_words':
      return false;
  }
}

function lookIn(question: FactQuestion, segment: Segment): string | undefined {
  const { text } = segment;
  switch (question.kind) {
    case 'value':
      return valueOf(text, question.key);
    case 'number_after':
      return after(text, question.anchor)?.slice(0, NUMBER_REACH).match(NUMBER)?.[0];
    case 'number_before':
      return lineBefore(text, question.anchor)?.match(new RegExp(NUMBER, 'g'))?.at(-1);
    case 'first_sentence':
      return firstSentence(segment);
    case 'first_heading':
      return /^#{1,6} +(.+?)\s*#*$/m.exec(text)?.[1];
    case 'own_words':
      return undefined;
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

/** A key of the outermost object of JSON in the usual layout: it stands there once, wherever the text was taken from. */
function topLevelKey(key: string): RegExp {
  return new RegExp(`^(?: {2}|\\t)"${escapePattern(key)}"\\s*:\\s*`, 'm');
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** `"key": "value"`, `key: value`, `key = value`; a JSON string loses its quotes, an object or array is taken as written. */
function valueOf(text: string, key: string): string | undefined {
  const json = topLevelKey(key).exec(text) ?? new RegExp(`"${escapePattern(key)}"\\s*:\\s*`).exec(text);
  if (json !== null) return jsonValue(text.slice(json.index + json[0].length));
  const line = new RegExp(`^[ \\t]*["'\`]?${escapePattern(key)}["'\`]?[ \\t]*[:=][ \\t]*(.*)$`, 'm').exec(text)?.[1];
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

/** How a block begins that is no prose: heading, HTML, image or badge, table, quote, list, rule, entity, link definition. */
const NOT_PROSE = /^\s*(?:#|<|!\[|\[!\[|\||>|&|[-*+]\s|[-=*_]{3,}\s*$|\d+[.)]\s|\[[^\]]*\]:)/;
const UNDERLINE = /^\s*(?:=+|-{2,})\s*$/;
const FENCE = /^\s*(?:```|~~~)/;

/** Words that make a paragraph. */
const LEAST_WORDS = 3;

/**
 * The first sentence of the first paragraph of prose, on one line: up to the first `.`, `!` or `?` before white
 * space, else the whole paragraph. `undefined` when the text ends before that is certain.
 */
function firstSentence(segment: Segment): string | undefined {
  const blocks = blocksOf(segment.text);
  const index = blocks.findIndex((lines) => isProse(lines));
  const text = (blocks[index] ?? []).join(' ').replace(/\s+/g, ' ').trim();
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0];
  if (sentence !== undefined) return sentence;
  const isComplete = index < blocks.length - 1 || segment.toEnd;
  return isComplete && text !== '' ? text : undefined;
}

/** The lines between blank ones; fenced text counts as none. */
function blocksOf(text: string): string[][] {
  const blocks: string[][] = [[]];
  let fenced = false;
  for (const line of text.split('\n')) {
    const isFence = FENCE.test(line);
    if (isFence) fenced = !fenced;
    if (isFence || fenced || line.trim() === '') blocks.push([]);
    else blocks.at(-1)?.push(line.trim());
  }
  return blocks.filter((lines, index) => lines.length > 0 || index === blocks.length - 1);
}

function isProse(lines: readonly string[]): boolean {
  const words = lines.join(' ').match(/\p{L}{2,}/gu)?.length ?? 0;
  return words >= LEAST_WORDS && !NOT_PROSE.test(lines[0] ?? '') && !lines.some((line) => UNDERLINE.test(line));
}
