import type { SoakFindings } from './check.ts';
import type { SoakOptions } from './options.ts';
import type { Settled } from './settle.ts';
import type { Strike, StrikeKind } from './strikes.ts';
import type { Takeover } from './takeovers.ts';
import type { Violation } from './violation.ts';

/** Milliseconds in which what a killed worker did is taken over, 95 times of 100, by the settings of `TAKEOVER_OPTIONS`. */
const TAKEOVER_TARGET_MILLISECONDS = 8_000;
/** Milliseconds that a strike may cost on average: 75 minutes for 500. */
const TARGET_MILLISECONDS_PER_STRIKE = 9_000;

/** Strikes from which on a run is judged as a whole. */
const MANY_KILLS = 100;
/**
 * Share of the reports owed that a run must give. 500 strikes left nine of ten; faults of the model server may end some readings,
 * which is no fault of the turns.
 */
const LEAST_SHARE_GIVEN = 0.5;
/** Slow takeovers that are listed. */
const LISTED_TAKEOVERS = 5;

export interface StruckOnce {
  readonly strike: Strike;
  readonly takeover: Takeover;
}

/** What held a takeover up: a high attempt waits longer by the backoff of its retry policy. */
export interface SlowTakeover {
  readonly kind: StrikeKind;
  readonly milliseconds: number;
  readonly activity: string;
  /** The attempt that was hit. */
  readonly attempt: number;
}

export interface TakeoverTimes {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

export interface SoakResult extends Omit<SoakFindings, 'violations'> {
  readonly ok: boolean;
  readonly seed: number;
  readonly kills: number;
  readonly killsByKind: Readonly<Record<string, number>>;
  /** Activities that were open where it struck, by type. */
  readonly hitActivities: Readonly<Record<string, number>>;
  /** Milliseconds, by kind of strike. */
  readonly takeovers: Readonly<Record<string, TakeoverTimes>>;
  /** The slowest takeovers from killed workers. */
  readonly slowestTakeovers: readonly SlowTakeover[];
  readonly conversations: number;
  /** Until the last turn had its outcome; `null`: longer than the run waits. */
  readonly settledMilliseconds: number | null;
  readonly wallMilliseconds: number;
  readonly violations: readonly Violation[];
  readonly missedTargets: readonly string[];
}

export function soakResult(
  options: SoakOptions,
  run: {
    readonly struck: readonly StruckOnce[];
    readonly settled: Settled;
    readonly findings: SoakFindings;
    readonly conversations: number;
    readonly wallMilliseconds: number;
    readonly left: readonly Violation[];
  },
): SoakResult {
  const { struck, settled, findings, wallMilliseconds } = run;
  const violations = [...findings.violations, ...run.left, ...unfinished(options, run)];
  const missedTargets = missed(options, run);
  return {
    ...findings,
    ok: violations.length === 0 && missedTargets.length === 0,
    seed: options.seed,
    kills: struck.length,
    killsByKind: count(struck.map(({ strike }) => strike.kind)),
    hitActivities: count(struck.flatMap(({ strike }) => strike.hit.map(({ type }) => type))),
    takeovers: takeoversByKind(struck),
    slowestTakeovers: slowestOf(struck),
    conversations: run.conversations,
    settledMilliseconds: settled.milliseconds,
    wallMilliseconds,
    violations,
    missedTargets,
  };
}

/** What was not shown: a turn that did not end, reports that nobody could check, or too few of them. */
function unfinished(
  { kills }: SoakOptions,
  { settled, findings }: { readonly settled: Settled; readonly findings: SoakFindings },
): Violation[] {
  return [
    ...settled.unsettled,
    // In a short run all may have been stopped.
    ...(kills >= MANY_KILLS && findings.factsChecked === 0
      ? [{ name: 'no_report_checked', found: 'no task of reading was completed' }]
      : []),
    ...(kills >= MANY_KILLS && findings.reportsGiven < findings.reportsOwed * LEAST_SHARE_GIVEN
      ? [{ name: 'few_reports', found: `${findings.reportsGiven} of ${findings.reportsOwed} that were owed` }]
      : []),
  ];
}

function missed(
  { kills, patience }: SoakOptions,
  run: { readonly struck: readonly StruckOnce[]; readonly wallMilliseconds: number },
): string[] {
  const killed = run.struck.filter(({ strike }) => isWorkerKill(strike.kind));
  const { p95 } = summarizeTakeovers(killed);
  return [
    ...(run.struck.length < kills ? [`${run.struck.length} of ${kills} strikes in the time`] : []),
    // Where strikes overlap, the next one holds up what the one before had hit.
    ...(patience >= TAKEOVER_TARGET_MILLISECONDS && p95 > TAKEOVER_TARGET_MILLISECONDS
      ? [`takeover after a worker kill ${p95} ms (p95), at most ${TAKEOVER_TARGET_MILLISECONDS}`]
      : []),
    // A short run spends its time on starting and settling.
    ...(kills >= MANY_KILLS && run.wallMilliseconds > kills * TARGET_MILLISECONDS_PER_STRIKE
      ? ['more than 9 s a strike']
      : []),
  ];
}

function isWorkerKill(kind: StrikeKind): boolean {
  return kind === 'worker_kill' || kind === 'worker_crash_point';
}

function takeoversByKind(struck: readonly StruckOnce[]): Record<string, TakeoverTimes> {
  const kinds = [...new Set(struck.map(({ strike }) => strike.kind))].sort((left, right) => left.localeCompare(right));
  return Object.fromEntries(
    kinds.map((kind) => [kind, summarizeTakeovers(struck.filter(({ strike }) => strike.kind === kind))]),
  );
}

function slowestOf(struck: readonly StruckOnce[]): SlowTakeover[] {
  return struck
    .flatMap(({ strike: { kind }, takeover: { milliseconds, last } }) =>
      isWorkerKill(kind) && last !== null ? [{ kind, milliseconds, activity: last.type, attempt: last.attempt }] : [],
    )
    .sort((left, right) => right.milliseconds - left.milliseconds)
    .slice(0, LISTED_TAKEOVERS);
}

function summarizeTakeovers(struck: readonly StruckOnce[]): TakeoverTimes {
  const times = struck.map(({ takeover }) => takeover.milliseconds).sort((left, right) => left - right);
  const at = (share: number): number => times[Math.max(0, Math.ceil(times.length * share) - 1)] ?? 0;
  return { count: times.length, median: at(0.5), p95: at(0.95), max: at(1) };
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
