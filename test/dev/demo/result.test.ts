import { describe, expect, it } from 'vitest';
import { demoResult } from '../../../dev/demo/result.ts';
import type { DemoFindings } from '../../../dev/demo/result.ts';
import type { LogAudit } from '../../../dev/demo/audit.ts';
import type { Job } from '../../../dev/demo/job.ts';
import type { Takeover } from '../../../dev/demo/demo-screen.ts';

const JOB: Job = {
  noun: 'package',
  description: 'packages',
  remarks: [],
  items: [
    {
      label: 'hono',
      files: [
        { path: 'hono/package.json', bytes: new Uint8Array(100) },
        { path: 'hono/README.md', bytes: new Uint8Array(900) },
      ],
      facts: [
        { column: 'version', words: '', value: '4.1.0' },
        { column: 'licence', words: '', value: 'MIT' },
      ],
    },
  ],
};

const LOG: LogAudit = {
  entries: 12,
  lostEntries: 0,
  doubledEntries: 0,
  steps: 5,
  modelCalls: 7,
  overflows: 0,
  maxTokens: 27_000,
  compactions: 2,
  pathsRead: new Set(['hono/package.json', 'hono/README.md']),
  lookups: 1,
  outcome: 'completed',
  reason: null,
  tokensWithoutCompaction: 131_072,
};

function takeover(changes: Partial<Takeover> = {}): Takeover {
  return {
    crashPoint: 'runTool:finished',
    filesRead: 19,
    activity: 'runTool',
    words: 'inside a tool call, finished and not stored',
    processId: 4_711,
    at: 1_000,
    milliseconds: 5_400,
    ...changes,
  };
}

/** Findings of a demo in which all went well. */
function findings(changes: Partial<DemoFindings> = {}): DemoFindings {
  return {
    conversationId: '01a20100-b17a-7976-a866-dfbb98d8ee7b',
    model: 'simulator/sim-32k',
    job: JOB,
    window: 32_768,
    report: { right: 2, wrong: [], doubled: [] },
    log: LOG,
    history: { bytes: 17_500, events: 90, continuedAsNew: 0, attempts: new Map([['runTool', 2]]) },
    explanation: 'The turn completed.',
    takeovers: [takeover()],
    turnMilliseconds: 20_000,
    wallMilliseconds: 25_000,
    ...changes,
  };
}

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
