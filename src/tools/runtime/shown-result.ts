import { wholeCharacters } from '../files/whole-characters.ts';

/** What is known of a result without loading it. */
export interface ResultOutline {
  /** The first characters, at least `limit` of them or all. */
  readonly head: string;
  /** The last characters, at least `limit` of them or all. */
  readonly tail: string;
  /** Characters (UTF-16 code units) in all. */
  readonly totalCharacters: number;
  /** Characters that may be shown. */
  readonly limit: number;
  /** Entry under which the whole result is stored. */
  readonly entryId: string;
  /** Bytes beyond the storage limit, which are lost. Default: 0. */
  readonly missingBytes?: number;
}

/** Of the characters shown, the part taken from the start; errors and totals stand at the end, so the end gets much too. */
const HEAD_FRACTION = 0.6;

/**
 * The text of a result as the model sees it: whole if it fits, else its beginning and its end with the way to
 * open the rest between them. Never longer than the limit, cut at line ends where one is near, and never inside
 * a surrogate pair. Pure.
 */
export function shownResult(outline: ResultOutline): string {
  const { head, tail, totalCharacters, limit } = outline;
  if (totalCharacters <= limit) return head;
  const room = Math.max(0, limit - notice(outline, totalCharacters, totalCharacters).length);
  const start = cutEnd(head, Math.floor(room * HEAD_FRACTION));
  const end = cutStart(tail, Math.min(room - start.length, totalCharacters - start.length));
  return `${start}${notice(outline, start.length, totalCharacters - end.length)}${end}`;
}

function notice(outline: ResultOutline, from: number, to: number): string {
  const missing = outline.missingBytes ?? 0;
  const open = `recall_open {"entry_id": "${outline.entryId}", "offset": ${from}}`;
  const lost = missing > 0 ? `; the last ${missing} bytes were too much to store` : '';
  const characters = `characters ${from} to ${to} of ${outline.totalCharacters} are not shown`;
  return `\n[… ${characters}; open them with ${open}${lost} …]\n`;
}

/** How far from the limit a line end may lie to be preferred. */
const LINE_FRACTION = 0.2;

function cutEnd(text: string, length: number): string {
  const cut = text.slice(0, length);
  const line = cut.lastIndexOf('\n') + 1;
  if (line > length * (1 - LINE_FRACTION)) return cut.slice(0, line);
  return wholeCharacters(cut);
}

function cutStart(text: string, length: number): string {
  if (length <= 0) return '';
  const cut = text.slice(-length);
  const line = cut.indexOf('\n') + 1;
  if (line > 0 && line < length * LINE_FRACTION) return cut.slice(line);
  return wholeCharacters(cut);
}
