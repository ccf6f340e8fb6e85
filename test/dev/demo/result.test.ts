import { describe, expect, it } from 'vitest';
import { demoResult } from '../../../dev/demo/result.ts';
import type { DemoFindings } from '../../../dev/demo/result.ts';
import { LOG, findings, takeover } from './support.ts';

describe('demoResult', () => {
  it('is fine when every fact is right and the log is whole', () => {
    expect(demoResult(findings())).toMatchObject({
      ok: true,
      problems: [],
      files: 2,
      filesRead: 2,
      bytes: 1_000,
      factsExpected: 2,
      factsRight: 2,
      kills: 1,
      takeoverMs: [5_400],
      maxTokens: 27_000,
      window: 32_768,
    });
  });

  const wrong = { label: 'hono', column: 'version', expected: '4.1.0', found: '4.0.0' };
  const cases: readonly (readonly [string, Partial<DemoFindings>, string])[] = [
    ['a wrong fact', { report: { right: 1, wrong: [wrong], doubled: [] } }, '1 of 2 facts are missing or wrong'],
    ['two rows for one item', { report: { right: 2, wrong: [], doubled: ['hono'] } }, 'more than one row for hono'],
    ['a lost entry', { log: { ...LOG, lostEntries: 1 } }, '1 entries are lost'],
    ['a doubled entry', { log: { ...LOG, doubledEntries: 2 } }, '2 entries are doubled'],
    ['an unread file', { log: { ...LOG, pathsRead: new Set(['hono/README.md']) } }, '1 of 2 files were never read'],
    [
      'an overflow that was not recovered',
      { log: { ...LOG, outcome: 'context_exhausted', reason: 'second_overflow' } },
      'an overflow was not recovered',
    ],
    ['another outcome', { log: { ...LOG, outcome: 'model_failed' } }, 'the turn ended as model_failed'],
    [
      'a kill without a second attempt in the history',
      { history: { bytes: 1, events: 1, continuedAsNew: 0, attempts: new Map([['runTool', 1]]) } },
      'no second attempt of runTool',
    ],
    ['a kill after which nothing went on', { takeovers: [takeover({ milliseconds: null })] }, 'nothing went on after'],
  ];

  it.each(cases)('fails for %s', (_case, changes, words) => {
    const result = demoResult(findings(changes));
    expect(result.ok).toBe(false);
    expect(result.problems.join('; ')).toContain(words);
  });
});
