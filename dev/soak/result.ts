import type { Counts, SoakFindings } from './check.ts';
import type { SoakOptions } from './options.ts';
import type { Strike } from './strikes.ts';
import type { Violation } from './violation.ts';

/** Strikes from which on a run is judged as a whole. */
const MANY_KILLS = 100;
/**
 * Share of the reports owed that a run must give. 500 strikes left nine of ten; faults of the model server may end some readings,
 * which is no fault of the turns.
 */
const LEAST_SHARE_GIVEN = 0.5;

export interface StruckOnce {
  readonly strike: Strike;
  /** Milliseconds until all that it hit had gone on. */
  readonly takeover: number;
}

export interface TakeoverTimes {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

export interface SoakResult extends SoakFindings {
  /** No violation, and as many strikes as were asked for. */
  readonly ok: boolean;
  readonly seed: number;
  readonly kills: number;
  readonly killsByKind: Counts;
  /** Activities and workflow tasks that were open where it struck, by type. */
  readonly hitActivities: Counts;
  /** Milliseconds, by kind of strike: they measure the machine as well, so nothing is judged by them. */
  readonly takeovers: Readonly<Record<string, TakeoverTimes>>;
  readonly conversations: number;
  /** From the last strike until the last turn had its outcome, or was stuck. */
  readonly settledMilliseconds: number;
  readonly wallMilliseconds: number;
}

export function soakResult(
  { kills, seed }: SoakOptions,
  run: {
    readonly struck: readonly StruckOnce[];
    readonly stuck: readonly Violation[];
    readonly settledMilliseconds: number;
    readonly findings: SoakFindings;
    readonly conversations: number;
    readonly wallMilliseconds: number;
    readonly left: readonly Violation[];
  },
): SoakResult {
  const { struck, stuck, left, findings, ...rest } = run;
  const violations = [
    ...findings.violations,
    ...left,
    ...stuck,
    ...(kills >= MANY_KILLS ? tooFewReports(findings) : []),
  ];
  return {
    ...findings,
    ...rest,
    ok: violations.length === 0 && struck.length >= kills,
    seed,
    kills: struck.length,
    killsByKind: count(struck.map(({ strike }) => strike.kind)),
    hitActivities: count(struck.flatMap(({ strike }) => strike.hit.map(({ type }) => type))),
    takeovers: takeoversByKind(struck),
    violations,
  };
}

/** In a short run all conversations may have been stopped. */
function tooFewReports({ factsChecked, reportsGiven, reportsOwed }: SoakFindings): Violation[] {
  if (factsChecked === 0) return [{ name: 'no_report_checked', found: 'no task of reading was completed' }];
  if (reportsGiven >= reportsOwed * LEAST_SHARE_GIVEN) return [];
  return [{ name: 'few_reports', found: `${reportsGiven} of ${reportsOwed} that were owed` }];
}

function takeoversByKind(struck: readonly StruckOnce[]): Record<string, TakeoverTimes> {
  const kinds = [...new Set(struck.map(({ strike }) => strike.kind))].sort((left, right) => left.localeCompare(right));
  const timesOf = (kind: string) => struck.flatMap(({ strike, takeover }) => (strike.kind === kind ? [takeover] : []));
  return Object.fromEntries(kinds.map((kind) => [kind, summarizeTimes(timesOf(kind))]));
}

function summarizeTimes(milliseconds: readonly number[]): TakeoverTimes {
  const times = [...milliseconds].sort((left, right) => left - right);
  const at = (share: number): number => times[Math.max(0, Math.ceil(times.length * share) - 1)] ?? 0;
  return { count: times.length, median: at(0.5), p95: at(0.95), max: at(1) };
}

function count(names: readonly string[]): Counts {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
