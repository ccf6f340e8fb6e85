import { expect, test } from 'vitest';
import { PLAIN_STYLE as style } from '../../../src/cli/render/style.ts';
import { summaryAuditLines } from '../../../src/cli/render/summary-audit.ts';
import type { SummaryAudit } from '../../../src/lab/audit/audit-summaries.ts';

const fact = (text: string, found: boolean | null) =>
  ({ kind: 'path', text, entryId: 'e', sequence: 3, found }) as const;

function lines(missing: SummaryAudit['missing'], full = false): string[] {
  const audit = {
    conversationId: 'conversation',
    compactionId: 'compaction',
    droppedEntries: 9,
    facts: 10,
    carried: 10 - missing.length,
    missing,
    askedFor: missing.filter(({ found }) => found !== null).length,
    found: missing.filter(({ found }) => found === true).length,
  };
  return summaryAuditLines(audit, { columns: null, style, full });
}

test('an audit says how many of the facts that no summary carries were searched for and found, and no share of nothing', () => {
  expect(lines([])[2]).toBe('by recall only   none');
  expect(lines([fact('a.ts', null)])[2]).toBe('by recall only   1, none of which was searched for');
  expect(lines([fact('a.ts', true), fact('b.ts', false)])[2]).toMatch(
    /^by recall only {3}2; 1 found \(50(?:\.0)? ?%\)$/,
  );
  expect(lines([fact('a.ts', true), fact('b.ts', null)])[2]).toMatch(/2; 1 of them searched for, 1 found \(100 ?%\)$/);
});

test('it lists what a search did not find, with --full all', () => {
  const missing = [fact('a.ts', true), fact('b.ts', false), fact('c.ts', null)];
  const listed = (full: boolean) =>
    lines(missing, full).flatMap((line) => / {2}(.) +3 +path +(\S+)/.exec(line)?.slice(1).join('') ?? []);
  expect(listed(false)).toEqual(['✗b.ts']);
  expect(listed(true)).toEqual(['✓a.ts', '✗b.ts', ' c.ts']);
});
