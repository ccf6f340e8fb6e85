import { expect, test } from 'vitest';
import type { SoakFindings } from '../../../dev/soak/check.ts';
import { DEFAULT_OPTIONS } from '../../../dev/soak/options.ts';
import { reportLines } from '../../../dev/soak/report.ts';
import { soakResult } from '../../../dev/soak/result.ts';
import type { SoakResult, StruckOnce } from '../../../dev/soak/result.ts';

const FINDINGS: SoakFindings = {
  violations: [],
  outcomes: { completed: 4 },
  repeatedModelCalls: { calls: 0, extraTries: 0, met: 0, exposed: 0, list: [] },
  unknownOutcomes: [],
  effects: 9,
  factsRight: 8,
  factsChecked: 8,
  reports: 2,
  reportsOwed: 3,
  reportsGiven: 2,
  histories: 4,
  compactions: { committed: 2 },
  messages: { message: 8, compact: 1 },
};

const ACTIVITY = { workflowId: 'w', runId: 'r', activityId: '1', type: 'callModel', attempt: 3, workerIdentity: 'x' };

function struck(count: number): StruckOnce[] {
  return Array.from({ length: count }, (_, index) => ({
    strike: { kind: 'worker_kill', at: 0, hit: [ACTIVITY] },
    takeover: 1_000 * (index + 1),
  }));
}

function resultOf(
  run: Partial<Parameters<typeof soakResult>[1]> = {},
  { strikes = 20, kills = strikes }: { readonly strikes?: number; readonly kills?: number } = {},
): SoakResult {
  return soakResult(
    { ...DEFAULT_OPTIONS, kills },
    {
      struck: struck(strikes),
      stuck: [],
      settledMilliseconds: 1,
      findings: FINDINGS,
      conversations: 2,
      wallMilliseconds: 1,
      left: [],
      ...run,
    },
  );
}

test('a result is good when nothing is wrong, however long it took', () => {
  const result = resultOf({ wallMilliseconds: 9_000_000, settledMilliseconds: 900_000 });
  expect(result).toMatchObject({ ok: true, violations: [], hitActivities: { callModel: 20 } });
  expect(result.takeovers).toEqual({ worker_kill: { count: 20, median: 10_000, p95: 19_000, max: 20_000 } });
});

test('a conversation that is stuck and a process that was left are violations, and printed', () => {
  const stuck = [{ name: 'conversation_stuck', found: 'conversation c: turn t is open' }];
  const left = [{ name: 'process_left', found: '12 sleep' }];
  const result = resultOf({ stuck, left });
  expect(result).toMatchObject({ ok: false, violations: [...left, ...stuck] });
  expect(reportLines(result, 20).join('\n')).toContain('conversation_stuck: conversation c: turn t is open');
});

test('a run with fewer strikes than were asked for is not good', () => {
  const result = resultOf({}, { kills: 25 });
  expect(result.ok).toBe(false);
  expect(reportLines(result, 25)).toContain('✗ 20 of 25 strikes in the time');
});

test('many strikes after which no report could be checked, or fewer than half of those owed were given, are a violation', () => {
  const many = (findings: Partial<SoakFindings>) =>
    resultOf({ findings: { ...FINDINGS, ...findings } }, { strikes: 100 }).violations.map(({ name }) => name);
  expect(many({ factsChecked: 0 })).toEqual(['no_report_checked']);
  expect(many({ reportsOwed: 20, reportsGiven: 9 })).toEqual(['few_reports']);
  expect(many({ reportsOwed: 20, reportsGiven: 10 })).toEqual([]);
  expect(resultOf({ findings: { ...FINDINGS, reportsOwed: 20, reportsGiven: 9 } }).violations).toEqual([]);
});

test('repeated calls and unknown outcomes are printed, the first ten of each', () => {
  const list = Array.from({ length: 12 }, (_, index) => ({ key: `turn:${index}`, tries: 2, met: 1 }));
  const unknownOutcomes = [{ key: 'turn:1:0', tool: 'charge', explainedBy: 'stop' as const }];
  const findings = {
    ...FINDINGS,
    unknownOutcomes,
    repeatedModelCalls: { calls: 12, extraTries: 12, met: 12, exposed: 30, list },
  };
  const printed = reportLines(resultOf({ findings }), 20).join('\n');
  expect(printed).toContain('turn:9: 2 tries, 1 lost to strikes');
  expect(printed).not.toContain('turn:10:');
  expect(printed).toContain('and 2 more');
  expect(printed).toContain('charge turn:1:0: stop');
});
