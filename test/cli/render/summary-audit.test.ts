import { expect, test } from 'vitest';
import { PLAIN_STYLE as style } from '../../../src/cli/render/style.ts';
import { summaryAuditLines } from '../../../src/cli/render/summary-audit.ts';
import type { SummaryAudit } from '../../../src/lab/audit/audit-summaries.ts';

const fact = (text: string, found: boolean | null) =>
  ({ kind: 'path', text, entryId: 'e', sequence: 3, found }) as const;

function lines(missing: SummaryAudit['missing'], full = false, changes: Partial<SummaryAudit> = {}): string[] {
  const audit = {
    conversationId: 'conversation',
    compactionId: 'compaction',
    droppedEntries: 9,
    shortenedEntries: 1,
    facts: 10,
    carried: 8 - missing.length,
    shown: 2,
    missing,
    askedFor: missing.filter(({ found }) => found !== null).length,
    found: missing.filter(({ found }) => found === true).length,
    ...changes,
  };
  return summaryAuditLines(audit, { columns: null, style, full });
}

const recalled = (missing: SummaryAudit['missing']) => lines(missing)[3];

test('an audit says how many of the facts that the window no longer says were searched for and found, and no share of nothing', () => {
  expect(recalled([])).toBe('by recall only       none');
  expect(recalled([fact('a.ts', null)])).toBe('by recall only       1, none of which was searched for');
  expect(recalled([fact('a.ts', true), fact('b.ts', false)])).toMatch(
    /^by recall only {7}2; 1 found \(50(?:\.0)? ?%\)$/,
  );
  expect(recalled([fact('a.ts', true), fact('b.ts', null)])).toMatch(/2; 1 of them searched for, 1 found \(100 ?%\)$/);
});

test('it lists what a search did not find, with --full all', () => {
  const missing = [fact('a.ts', true), fact('b.ts', false), fact('c.ts', null)];
  const listed = (full: boolean) =>
    lines(missing, full).flatMap((line) => / {2}(.) +3 +path +(\S+)/.exec(line)?.slice(1).join('') ?? []);
  expect(listed(false)).toEqual(['✗b.ts']);
  expect(listed(true)).toEqual(['✓a.ts', '✗b.ts', ' c.ts']);
});

test('it says that the window holds everything only when no entry left it or is shown shorter', () => {
  const none = { compactionId: null, droppedEntries: 0, carried: 0, shown: 0 };
  expect(lines([], false, { ...none, shortenedEntries: 0, facts: 0 })).toEqual([
    'The window still holds every entry as it was.',
  ]);
  expect(lines([fact('a.ts', true)], false, { ...none, shortenedEntries: 3, facts: 1 }).slice(0, 3)).toEqual([
    '0 entries left the window, 3 entries shown shorter; their originals say 1 fact: requirements, paths, identifiers, numbers, errors.',
    expect.stringMatching(/^shown in the window {2}0 \(0(?:\.0)? ?%\)$/),
    expect.stringMatching(/^by recall only {7}1; 1 found/),
  ]);
});
