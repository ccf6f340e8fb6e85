import { describe, expect, test } from 'vitest';
import type { SoakFindings } from '../../soak/check.ts';
import { DEFAULT_OPTIONS } from '../../soak/options.ts';
import type { SoakOptions } from '../../soak/options.ts';
import { reportLines } from '../../soak/report.ts';
import { soakResult } from '../../soak/result.ts';
import type { SoakResult, StruckOnce } from '../../soak/result.ts';
import type { StrikeKind } from '../../soak/strikes.ts';

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
  summaries: 1,
  forcedCompactions: 1,
  overflowRecoveries: 0,
  messages: { message: 8, compact: 1 },
};

function struck(kind: StrikeKind, milliseconds: number): StruckOnce {
  const last = { workflowId: 'w', runId: 'r', activityId: '1', type: 'callModel', attempt: 3, workerIdentity: 'x' };
  return { strike: { kind, at: 0, hit: [last] }, takeover: { milliseconds, last } };
}

function resultOf(
  times: readonly StruckOnce[],
  options: Partial<SoakOptions> = {},
  run: Partial<Parameters<typeof soakResult>[1]> = {},
): SoakResult {
  return soakResult(
    { ...DEFAULT_OPTIONS, kills: times.length, ...options },
    {
      struck: times,
      settled: { milliseconds: 1, unsettled: [] },
      findings: FINDINGS,
      conversations: 2,
      wallMilliseconds: 1,
      left: [],
      ...run,
    },
  );
}

const fast = Array.from({ length: 20 }, () => struck('worker_kill', 6_000));

describe('the result', () => {
  test('is good when nothing is wrong', () => {
    expect(resultOf(fast)).toMatchObject({ ok: true, violations: [], missedTargets: [] });
  });

  test('a turn that did not reach its outcome in time is a violation', () => {
    const unsettled = [{ name: 'turn_not_settled', found: 'turn t of c is open' }];
    const result = resultOf(fast, {}, { settled: { milliseconds: null, unsettled } });
    expect(result).toMatchObject({ ok: false, settledMilliseconds: null, violations: unsettled });
    expect(reportLines(result).join('\n')).toContain('turn t of c is open');
  });

  test('a process that was left is a violation', () => {
    const left = [{ name: 'process_left', found: '12 sleep' }];
    expect(resultOf(fast, {}, { left })).toMatchObject({ ok: false, violations: left });
  });

  test('many strikes without a report that could be checked are a violation', () => {
    const findings = { ...FINDINGS, factsChecked: 0 };
    const many = Array.from({ length: 100 }, () => struck('worker_kill', 6_000));
    expect(resultOf(many, {}, { findings })).toMatchObject({ violations: [{ name: 'no_report_checked' }] });
  });

  test('many strikes after which fewer than half of the reports owed were given are a violation', () => {
    const many = Array.from({ length: 100 }, () => struck('worker_kill', 6_000));
    const given = (reportsGiven: number) => ({ findings: { ...FINDINGS, reportsOwed: 20, reportsGiven } });
    expect(resultOf(many, {}, given(9))).toMatchObject({ ok: false, violations: [{ name: 'few_reports' }] });
    expect(resultOf(many, {}, given(10)).violations).toEqual([]);
    expect(resultOf(fast, {}, given(9)).violations).toEqual([]);
  });

  test('slow takeovers from killed workers miss the target, those from servers do not', () => {
    const slow = [...fast, struck('worker_crash_point', 9_000), struck('worker_kill', 12_000)];
    const missed = resultOf(slow);
    expect(missed.ok).toBe(false);
    expect(missed.missedTargets).toEqual(['takeover after a worker kill 9000 ms (p95), at most 8000']);
    expect(missed.slowestTakeovers[0]).toMatchObject({ milliseconds: 12_000, activity: 'callModel', attempt: 3 });
    expect(resultOf([...fast, struck('temporal_kill', 20_000), struck('postgres_kill', 20_000)]).ok).toBe(true);
    // Where strikes overlap it is not judged.
    expect(resultOf(slow, { patience: 300 }).ok).toBe(true);
  });

  test('too few strikes, and too long for each, miss the target', () => {
    expect(resultOf(fast, { kills: 25 }).missedTargets).toEqual(['20 of 25 strikes in the time']);
    const many = Array.from({ length: 100 }, () => struck('worker_kill', 6_000));
    expect(resultOf(many, {}, { wallMilliseconds: 900_001 }).missedTargets).toEqual(['more than 9 s a strike']);
  });

  test('repeated calls and unknown outcomes are printed, the first ten of each', () => {
    const list = Array.from({ length: 12 }, (_, index) => ({ key: `turn:${index}`, tries: 2, met: 1 }));
    const unknownOutcomes = [{ key: 'turn:1:0', tool: 'charge', explainedBy: 'stop' as const }];
    const findings = {
      ...FINDINGS,
      unknownOutcomes,
      repeatedModelCalls: { calls: 12, extraTries: 12, met: 12, exposed: 30, list },
    };
    const printed = reportLines(resultOf(fast, {}, { findings })).join('\n');
    expect(printed).toContain('turn:9: 2 tries, 1 lost to strikes');
    expect(printed).not.toContain('turn:10:');
    expect(printed).toContain('and 2 more');
    expect(printed).toContain('charge turn:1:0: stop');
    expect(printed).toContain('12 tries more, 12 of them lost to strikes; strikes met 30 model calls');
  });
});
