import type { FoundPassage } from '../../../client/types.ts';
import { wholeCharacters } from '../../../tools/files/text.ts';
import { inOneSpelling, patternOf } from '../../../context/log/one-spelling.ts';
import { formatAge, formatCount } from '../text/numbers.ts';
import { safeText } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { wrapWords } from '../text/text-width.ts';

/** Rows of a longer passage that are shown, around what was found. */
const PASSAGE_ROWS = 8;
/** Of them, before those that have the words. */
const ROWS_BEFORE = 3;
/** Rows of what was said before or after it. */
const NEIGHBOUR_ROWS = 3;
const PIPE_COLUMNS = 100;
/** Characters of a path that are shown, its end. */
const PATH_CHARACTERS = 60;

/** Passages with their entry and the words of the query set off. */
export function passageLines(
  passages: readonly FoundPassage[],
  {
    columns,
    style,
    now,
    namesConversations = false,
  }: {
    readonly columns: number | null;
    readonly style: Style;
    readonly now: number;
    /** They may be of several. Default: false. */
    readonly namesConversations?: boolean;
  },
): string[] {
  return passages.flatMap((passage, index) => {
    const { entryId, kind, createdAt, offset, text, forms, branch, onActiveBranch, alsoIn = [] } = passage;
    const place = offset > 0 ? ` at character ${formatCount(offset)}` : '';
    const where = namesConversations
      ? `, conversation ${[passage.conversationId, ...alsoIn].map((id) => id.slice(-8)).join(', also ')}`
      : '';
    const left = onActiveBranch ? '' : `, branch ${branch}`;
    const rows = wrapWords(safeText(text).normalize().trim(), (columns ?? PIPE_COLUMNS) - 3);
    const first = rows.length > PASSAGE_ROWS ? firstShown(rows, forms) : 0;
    const last = Math.min(rows.length, first + PASSAGE_ROWS);
    const shown = [...(first > 0 ? ['…'] : []), ...rows.slice(first, last), ...(last < rows.length ? ['…'] : [])];
    return [
      ...(index === 0 ? [] : ['']),
      `${style.bold(`${index + 1}. ${kind.replaceAll('_', ' ')}`)}${style.dim(`${sourceOf(passage)}  ${formatAge(createdAt, now)}${place}${where}${left}  ${entryId}`)}`,
      ...shown.map((row) => `   ${row.replaceAll(patternOf(forms), (found) => style.yellow(found))}`),
      ...neighbourLines(passage, style, columns),
    ];
  });
}

/** Which tool returned it, and for which file. */
function sourceOf({ toolName, path }: FoundPassage): string {
  if (toolName === null) return '';
  const shown =
    path === null || path.length <= PATH_CHARACTERS
      ? path
      : `…${wholeCharacters(path.slice(path.length + 1 - PATH_CHARACTERS))}`;
  return `  ${safeText(shown === null ? toolName : `${toolName} ${shown}`).replaceAll(/\s+/gu, ' ')}`;
}

function neighbourLines({ neighbour }: FoundPassage, style: Style, columns: number | null): string[] {
  if (neighbour === undefined) return [];
  const left = neighbour.branch === undefined ? '' : `, branch ${neighbour.branch}`;
  const before = `${neighbour.says === 'question' ? 'before it' : 'after it'}${left}: `;
  const rows = wrapWords(safeText(before + neighbour.text.replaceAll(/\s+/gu, ' ')), (columns ?? PIPE_COLUMNS) - 3);
  return rows.slice(0, NEIGHBOUR_ROWS).map((row) => style.dim(`   ${row}`));
}

/** The first of the rows to show, some before the row that has, with those shown after it, most of the different words. */
function firstShown(rows: readonly string[], forms: readonly string[]): number {
  const found = rows.map(inOneSpelling).map((row) => forms.filter((form) => row.includes(form)));
  const worth = found.map((here, row) => {
    const shown = new Set(found.slice(row, row + PASSAGE_ROWS - ROWS_BEFORE).flat());
    // Of rows from which as many are seen, the one that has most of them itself.
    return here.length === 0 ? 0 : shown.size + here.length / (forms.length + 1);
  });
  const best = worth.indexOf(Math.max(...worth));
  return Math.max(0, Math.min(best - ROWS_BEFORE, rows.length - PASSAGE_ROWS));
}
