import type { SummaryAudit } from '../../lab/audit/audit-summaries.ts';
import { formatCount, formatPercent, plural } from './numbers.ts';
import { safeLine } from './safe-text.ts';
import type { Style } from './style.ts';
import { truncate } from './text-width.ts';

const PIPE_COLUMNS = 160;

/** What the summary in force does not carry, and whether recall finds it. */
export function summaryAuditLines(
  audit: SummaryAudit,
  { columns, style, full }: { readonly columns: number | null; readonly style: Style; readonly full: boolean },
): string[] {
  const { facts, carried, missing, droppedEntries } = audit;
  if (audit.compactionId === null) return ['No summary stands for anything: the window still holds everything.'];
  const shown = full ? missing : missing.filter((fact) => fact.found === false);
  return [
    `${plural(droppedEntries, 'entry', 'entries')} left the window, saying ${plural(facts, 'fact')}: requirements, paths, identifiers, numbers, errors.`,
    `${style.bold('in the summary')}   ${formatCount(carried)} (${formatPercent(carried, facts)})`,
    `${style.bold('by recall only')}   ${byRecall(audit)}`,
    ...(shown.length === 0
      ? []
      : ['', full ? 'Facts that no live summary carries:' : 'Not found by a search for their own words:']),
    ...shown.map(({ kind, text, sequence, found: isFound }) => {
      const mark = isFound === null ? ' ' : isFound ? '✓' : '✗';
      return truncate(
        `  ${mark} ${String(sequence).padStart(6)}  ${kind.padEnd(11)}  ${safeLine(text)}`,
        columns ?? PIPE_COLUMNS,
      );
    }),
    ...(full || missing.length === 0 ? [] : ['', style.dim('--full lists all of them')]),
  ];
}

/** A share of nothing says nothing. */
function byRecall({ missing, askedFor, found }: SummaryAudit): string {
  if (missing.length === 0) return 'none';
  const count = formatCount(missing.length);
  if (askedFor === 0) return `${count}, none of which was searched for`;
  const searched = askedFor === missing.length ? '' : `${formatCount(askedFor)} of them searched for, `;
  return `${count}; ${searched}${formatCount(found)} found (${formatPercent(found, askedFor)})`;
}
