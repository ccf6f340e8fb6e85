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

/** The passages of a search result: each begins with a line that names an entry. */
export function parsePassages(text: string): readonly Passage[] {
  const passages: { entryId: string; heading: string; lines: string[]; offset: number }[] = [];
  for (const line of text.split('\n')) {
    const id = /^\W*entry\b/i.test(line) ? line.match(UUID_GLOBAL)?.[0] : undefined;
    if (id !== undefined)
      passages.push({ entryId: id, heading: line, lines: [], offset: Number(/\boffset (\d+)/i.exec(line)?.[1] ?? 0) });
    else passages.at(-1)?.lines.push(line);
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
}

/** An opened entry: a first line that names it, then its text. */
export function parseOpenedEntry(text: string): OpenedEntry {
  const newline = text.indexOf('\n');
  const heading = newline === -1 ? text : text.slice(0, newline);
  if (!/^\W*entry\b/i.test(heading)) return { text, from: 0 };
  const from = Number(/\bcharacters? (\d+)/i.exec(heading)?.[1] ?? 0);
  const next = /\bnext\b.*?"?offset"?\s*:?\s*(\d+)/i.exec(heading)?.[1];
  const opened = { text: newline === -1 ? '' : text.slice(newline + 1), from };
  return next === undefined ? opened : { ...opened, nextOffset: Number(next) };
}
