import { expect, test } from 'vitest';
import { PLAIN_STYLE as style } from '../../../../src/cli/render/text/style.ts';
import { summaryAuditLines } from '../../../../src/cli/render/lists/summary-audit.ts';
import type { SummaryAudit } from '../../../../src/verify/audit/audit-summaries.ts';

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

const listedIn = (printed: readonly string[]): string[] =>
  printed.flatMap((line) => / {2}(.) +3 +path +(\S+)/u.exec(line)?.slice(1).join('') ?? []);

test('it lists facts with their mark, and says which of them recall was not asked for', () => {
  const missing = [fact('a.ts', true), fact('b.ts', false), fact('c.ts', null)];
  const printed = lines(missing);
  expect(listedIn(printed)).toEqual(['✓a.ts', '✗b.ts', '?c.ts']);
  expect(printed.join('\n')).toContain('✓ found by recall, ✗ not found, ? not asked for');
  expect(printed.at(-1)).toContain('--limit');
  expect(lines(missing.slice(0, 2)).at(-1)).toContain('b.ts');
});

test('of many it lists the first, above all those that were not found, and with --full all', () => {
  const missing = Array.from({ length: 30 }, (_, index) => fact(`f${index}.ts`, index !== 29));
  const printed = lines(missing);
  expect(listedIn(printed)).toEqual([...missing.slice(0, 19).map(({ text }) => `✓${text}`), '✗f29.ts']);
  expect(printed.at(-1)).toBe('10 more: --full lists all of them');
  expect(listedIn(lines(missing, true))).toHaveLength(30);
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
