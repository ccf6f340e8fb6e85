import { hasGap } from './gap.ts';

const UUID_GLOBAL = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

export function isRecallId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** A passage that a search found. */
export interface Passage {
  readonly entryId: string;
  /** The line that names the entry. */
  readonly heading: string;
  readonly text: string;
  /** Where the passage begins in its entry, in characters, when the heading says so. */
  readonly offset: number;
}

/**
 * The passages of a search result: each begins with a line that names an entry. What stands behind a gap is no passage's up to the
 * next such line: the one that named its entry was taken out.
 */
export function parsePassages(text: string): readonly Passage[] {
  const passages: { entryId: string; heading: string; lines: string[]; offset: number }[] = [];
  let isBehindGap = false;
  for (const line of text.split('\n')) {
    const id = /^\W*entry\b/i.test(line) ? line.match(UUID_GLOBAL)?.[0] : undefined;
    isBehindGap = id === undefined && (isBehindGap || hasGap(line));
    if (id !== undefined)
      passages.push({ entryId: id, heading: line, lines: [], offset: Number(/\boffset (\d+)/i.exec(line)?.[1] ?? 0) });
    else if (!isBehindGap) passages.at(-1)?.lines.push(line);
  }
  return passages.map(({ entryId, heading, offset, lines }) => ({
    entryId,
    heading,
    offset,
    text: lines.join('\n').trim(),
  }));
}

/** What an opened entry shows. */
export interface OpenedEntry {
  readonly text: string;
  /** First character shown, from 0. */
  readonly from: number;
  /** Where to go on; absent at the end of the entry. */
  readonly nextOffset?: number;
  /** Something was taken out of it, or all. */
  readonly isCut: boolean;
}

/** An opened entry: a first line that names it, then its text. */
export function parseOpenedEntry(text: string): OpenedEntry {
  const newline = text.indexOf('\n');
  const heading = newline === -1 ? text : text.slice(0, newline);
  if (!/^\W*entry\b/i.test(heading)) return { text, from: 0, isCut: hasGap(text) };
  const [, first = 0, last] = /\bcharacters? (\d+)(?:\D+(\d+))?/i.exec(heading) ?? [];
  const next = /\bnext\b.*?"?offset"?\s*:?\s*(\d+)/i.exec(heading)?.[1];
  const from = Number(first);
  const shown = newline === -1 ? '' : text.slice(newline + 1);
  // The text itself may have a line that looks like a gap: then it has as many characters as the heading says.
  const opened = { text: shown, from, isCut: hasGap(shown) && from + shown.length !== Number(last) };
  return next === undefined ? opened : { ...opened, nextOffset: Number(next) };
}
