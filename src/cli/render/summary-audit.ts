import type { SummaryAudit } from '../../lab/audit/audit-summaries.ts';
import { formatCount, formatPercent, plural } from './numbers.ts';
import { safeLine } from './safe-text.ts';
import type { Style } from './style.ts';
import { truncate } from './text-width.ts';

const PIPE_COLUMNS = 160;

/** What the window no longer says of what it does not show whole, and whether recall finds it. */
export function summaryAuditLines(
  audit: SummaryAudit,
  { columns, style, full }: { readonly columns: number | null; readonly style: Style; readonly full: boolean },
): string[] {
  const { facts, carried, missing, droppedEntries, shortenedEntries } = audit;
  if (droppedEntries + shortenedEntries === 0) return ['The window still holds every entry as it was.'];
  const shown = full ? missing : missing.filter((fact) => fact.found === false);
  return [
    `${plural(droppedEntries, 'entry', 'entries')} left the window, ${plural(shortenedEntries, 'entry', 'entries')} shown shorter; their originals say ${plural(facts, 'fact')}: requirements, paths, identifiers, numbers, errors.`,
    ...(audit.compactionId === null ? [] : [`${style.bold('in the summary')}       ${share(carried, facts)}`]),
    `${style.bold('shown in the window')}  ${share(audit.shown, facts)}`,
    `${style.bold('by recall only')}       ${byRecall(audit)}`,
    ...(shown.length === 0
      ? []
      : ['', full ? 'Facts that the window no longer says:' : 'Not found by a search for their own words:']),
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

function share(count: number, of: number): string {
  return of === 0 ? 'none' : `${formatCount(count)} (${formatPercent(count, of)})`;
}

/** A share of nothing says nothing. */
function byRecall({ missing, askedFor, found }: SummaryAudit): string {
  if (missing.length === 0) return 'none';
  const count = formatCount(missing.length);
  if (askedFor === 0) return `${count}, none of which was searched for`;
  const searched = askedFor === missing.length ? '' : `${formatCount(askedFor)} of them searched for, `;
  return `${count}; ${searched}${formatCount(found)} found (${formatPercent(found, askedFor)})`;
}
