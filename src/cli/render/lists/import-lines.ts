import type { ImportReport } from '../../../import/read/import-report.ts';
import { formatBytes, formatCount, plural } from '../text/numbers.ts';
import { safeText } from '../text/safe-text.ts';

/** What a file held, and what of it was no part of a conversation. */
export function importLines(report: ImportReport): string[] {
  const { records } = report;
  const head =
    `${safeText(report.file)}: ${report.format}, ${formatBytes(report.bytes)}, ${plural(report.sessions, 'session')}: ` +
    `${plural(records.user, 'message')}, ${plural(records.assistant, 'answer')}, ${plural(records.tool_result, 'tool result')}`;
  return [
    head,
    ...namedCounts('left out', report.leftOut),
    ...namedCounts('unknown', report.unknown),
    ...report.problems.map(({ code, count, lines }) => {
      const where = lines.length === 0 ? '' : `, line ${lines.join(', ')}${count > lines.length ? ' …' : ''}`;
      return `  ${code}: ${count}${where}`;
    }),
  ];
}

function namedCounts(what: string, counts: Readonly<Record<string, number>>): string[] {
  const names = Object.entries(counts).map(([name, count]) => `${safeText(name)} ${formatCount(count)}`);
  return names.length === 0 ? [] : [`  ${what}: ${names.join(', ')}`];
}
