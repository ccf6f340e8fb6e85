import { describe, expect, it } from 'vitest';
import { PLAIN_STYLE } from '../../../src/cli/render/text/style.ts';
import { finalReportLines, nextStepLines } from '../../../dev/demo/final-report.ts';
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

describe('finalReportLines', () => {
  it('says what was done, what it took and that all is right', () => {
    const text = finalReportLines(demoResult(findings()), 2, PLAIN_STYLE).join('\n');
    expect(text).toContain('2 of 2 (1000 B)');
    expect(text).toContain('7 (5 steps, 2 for summaries or repeated)');
    expect(text).toContain('27,000 of 32,768 tokens (82 %)');
    expect(text).toContain('131,072 tokens in the last request: 4.0 windows');
    expect(text).toContain('1 (went on after 5.4 s); 1 of 2 planned places not reached');
    expect(text).toContain('3.4 KB a step');
    expect(text).toContain('✓ 2 of 2 facts are right');
  });

  it('names wrong cells, without letting them act on the terminal', () => {
    const wrong = [{ label: 'hono', column: 'version', expected: '4.1.0', found: '\u001b[31m4' }];
    const text = finalReportLines(
      demoResult(findings({ report: { right: 1, wrong, doubled: [] } })),
      2,
      PLAIN_STYLE,
    ).join('\n');
    expect(text).toContain('hono version: "4.1.0" in the file, "4" in the report');
    expect(text).not.toContain('\u001b');
  });

  it('explains another outcome instead of counting facts that nobody reported', () => {
    const log = { ...LOG, outcome: 'context_exhausted' };
    const wrong = [{ label: 'hono', column: 'version', expected: '4.1.0', found: null }];
    const explanation = 'The window is full.';
    const result = demoResult(findings({ log, explanation, report: { right: 1, wrong, doubled: [] } }));
    const text = finalReportLines(result, 1, PLAIN_STYLE).join('\n');
    expect(text).toContain('The window is full.');
    expect(text).not.toContain('in the report');
  });
});

describe('nextStepLines', () => {
  it('shows where to look while everything is kept', () => {
    const text = nextStepLines('01a2', {
      directory: '/x/demo-1',
      temporalUi: 'http://127.0.0.1:8233',
      report: '/x/report.md',
    });
    expect(text.join('\n')).toContain('http://127.0.0.1:8233/namespaces/default/workflows/agent-turn:01a2');
    expect(text.join('\n')).toContain('HOLDFAST_DIRECTORY=/x/demo-1 npx holdfast summaries 01a2');
  });
});
