import type { FoundPassage } from '../../client/memory-types.ts';
import { formatAge, formatCount } from './numbers.ts';
import { safeText } from './safe-text.ts';
import type { Style } from './style.ts';
import { wrapWords } from './text-width.ts';

/** Rows of a passage before it is cut. */
const PASSAGE_ROWS = 8;
const PIPE_COLUMNS = 100;

/** Passages with their entry and the words of the query set off. */
export function passageLines(
  passages: readonly FoundPassage[],
  query: string,
  { columns, style, now }: { readonly columns: number | null; readonly style: Style; readonly now: number },
): string[] {
  const words = queryWords(query);
  return passages.flatMap(({ entryId, kind, createdAt, offset, text, branch, onActiveBranch }, index) => {
    const place = offset > 0 ? ` at character ${formatCount(offset)}` : '';
    const left = onActiveBranch ? '' : `, branch ${branch}`;
    const rows = wrapWords(safeText(text).trim(), (columns ?? PIPE_COLUMNS) - 3);
    const shown = rows.length > PASSAGE_ROWS ? [...rows.slice(0, PASSAGE_ROWS), '…'] : rows;
    return [
      ...(index === 0 ? [] : ['']),
      `${style.bold(`${index + 1}. ${kind.replaceAll('_', ' ')}`)}${style.dim(`  ${formatAge(createdAt, now)}${place}${left}  ${entryId}`)}`,
      ...shown.map((row) => `   ${highlight(row, words, style)}`),
    ];
  });
}

/** Words of a query that are worth setting off, longest first, so that the longer of two that overlap is found. */
export function queryWords(query: string): string[] {
  const words = query.match(/[\p{L}\p{N}_.-]+/gu) ?? [];
  return [...new Set(words.map((word) => word.toLowerCase()))]
    .filter((word) => word.length > 2 || /\P{ASCII}/u.test(word))
    .toSorted((one, other) => other.length - one.length);
}

export function highlight(text: string, words: readonly string[], style: Style): string {
  if (words.length === 0) return text;
  const escaped = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\-]/gu, String.raw`\$&`));
  return text.replaceAll(new RegExp(escaped.join('|'), 'giu'), (found) => style.yellow(found));
}
