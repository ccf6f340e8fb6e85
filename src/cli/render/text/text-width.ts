import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Each a column wide. `string-width` would compile its rules for emoji to say so: 35 ms of each command that prints a table. */
const NARROW = /^[\u0020-\u007e·–…→−✓✗]*$/u;

/** Columns that a terminal uses for a text without line breaks; escape codes use none. */
export function displayWidth(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}

/** The text, or as much of it, in whole graphemes, as leaves room for an ellipsis. */
export function truncate(text: string, columns: number): string {
  // Longer than any terminal is wide: no need to measure the rest of a megabyte.
  const start = text.slice(0, columns * 8);
  if (start === text && displayWidth(text) <= columns) return text;
  if (columns < 1) return '';
  let width = 0;
  for (const { segment, index } of graphemes.segment(start)) {
    width += displayWidth(segment);
    if (width >= columns) return `${text.slice(0, index).trimEnd()}…`;
  }
  return `${start}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - displayWidth(text))) + text;
}

/**
 * Breaks lines that are too long at spaces, and words longer than a row anywhere. Each element fits one row.
 * @param columns `null`: rows have any length, as in a pipe
 * @param indent stands before each row but the first, and counts
 * @param whole a word that contains this text is never broken, so that its row may be too long. Default: every long word is broken
 */
export function wrapWords(text: string, columns: number | null, indent = '', whole?: string): string[] {
  if (columns === null) return text.split('\n');
  const width = Math.max(1, columns - indent.length);
  const rows = text
    .split('\n')
    .flatMap((line) => (displayWidth(line) <= width ? [line] : wrapLine(line, width, whole)));
  return rows.map((row, index) => (index === 0 ? row : `${indent}${row}`));
}

function wrapLine(line: string, columns: number, whole: string | undefined): string[] {
  const rows: string[] = [];
  let row = '';
  const words = line.split(/(?<= )(?! )/u);
  const isWhole = (word: string): boolean => whole !== undefined && word.includes(whole);
  for (const piece of words.flatMap((word) => (isWhole(word) ? [word] : breakWord(word, columns)))) {
    if (row !== '' && displayWidth((row + piece).trimEnd()) > columns) {
      rows.push(row);
      row = '';
    }
    row += piece;
  }
  return [...rows, row].map((each) => each.trimEnd()).filter((each) => each !== '');
}

/** A word with the spaces behind it; one that is wider than a row, in its graphemes. */
function breakWord(word: string, columns: number): string[] {
  if (displayWidth(word.trimEnd()) <= columns) return [word];
  return Array.from(graphemes.segment(word), ({ segment }) => segment);
}
