/** Printable ASCII: one column each, the case that nearly all text is. */
const ASCII = /^[\x20-\x7e]*$/u;

/** Two columns in every terminal: East Asian wide and fullwidth characters (Unicode TR11), and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}|^\p{Emoji}\ufe0f/u;

/** No column: marks that combine with what precedes them, formats such as a joiner, controls. */
const INVISIBLE = /^[\p{Mark}\p{Format}\p{Control}\p{Surrogate}]+$/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Columns that a terminal uses for a text without line breaks and escape codes. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The longest beginning that fits into `columns`, in whole graphemes. */
export function takeColumns(text: string, columns: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, columns));
  let width = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns) return text.slice(0, index);
  }
  return text;
}

/** The text, or as much of it as leaves room for an ellipsis. */
export function truncate(text: string, columns: number): string {
  // Longer than any terminal is wide: no need to measure the rest of a megabyte.
  const start = text.length > columns * 8 ? text.slice(0, columns * 8) : text;
  if (start === text && displayWidth(text) <= columns) return text;
  return columns < 1 ? '' : `${takeColumns(start, columns - 1).trimEnd()}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - displayWidth(text))) + text;
}

/** Splits at line breaks and, like a terminal, wherever a line would pass `columns`. Each element fits one row. */
export function breakRows(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => breakLine(line, columns));
}

function breakLine(line: string, columns: number): string[] {
  const rows: string[] = [];
  let row = '';
  let width = 0;
  for (const { segment } of graphemes.segment(line)) {
    const added = graphemeWidth(segment);
    // At least one grapheme a row, else a wide character in a one-column terminal would never end.
    if (row !== '' && added > 0 && width + added > columns) {
      rows.push(row);
      row = '';
      width = 0;
    }
    row += segment;
    width += added;
  }
  return [...rows, row];
}

/** Breaks lines that are too long at spaces, and words longer than a row anywhere. Each element fits one row. */
export function wrapWords(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => (displayWidth(line) <= columns ? [line] : wrapLine(line, columns)));
}

function wrapLine(line: string, columns: number): string[] {
  const rows: string[][] = [];
  let words: string[] | null = null;
  let width = 0;
  for (const word of line.split(' ')) {
    const added = displayWidth(word);
    if (words !== null && width + 1 + added <= columns) {
      words.push(word);
      width += 1 + added;
      continue;
    }
    if (words !== null && words.some((each) => each.trim() !== '')) rows.push(words);
    const pieces = added <= columns ? [word] : breakRows(word, columns);
    const last = pieces.pop() ?? '';
    for (const piece of pieces) rows.push([piece]);
    words = [last];
    width = displayWidth(last);
  }
  return [...rows, ...(words === null ? [] : [words])].map((row) => row.join(' ').trimEnd());
}
