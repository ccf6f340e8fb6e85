import type { LogAudit } from './audit.ts';
import type { ReportCheck } from './check-report.ts';
import type { HistoryFacts } from './history.ts';
import { byteCount, factCount, filesOf } from './job.ts';
import type { Job } from './job.ts';
import type { Takeover } from './demo-screen.ts';

/** All that was measured and checked, before it is judged. */
export interface DemoFindings {
  readonly conversationId: string;
  readonly model: string;
  readonly job: Job;
  /** Tokens. */
  readonly window: number;
  readonly report: ReportCheck;
  readonly log: LogAudit;
  readonly history: HistoryFacts;
  /** What the outcome means, in words for a person. */
  readonly explanation: string | null;
  readonly takeovers: readonly Takeover[];
  /** From the task to the end of the turn, milliseconds. */
  readonly turnMilliseconds: number;
  /** Of the whole demo, milliseconds. */
  readonly wallMilliseconds: number;
}

/** What `--json` prints. */
export type DemoResult = Readonly<ReturnType<typeof demoResult>>;

/** Wrong cells that are named; the rest is a number. */
const NAMED_FACTS = 20;

/** Names are stable. `problems` says in words what is not as it has to be. */
export function demoResult(findings: DemoFindings) {
  const { job, report, log, history, takeovers } = findings;
  const files = filesOf(job);
  const problems = problemsOf(findings);
  return {
    ok: problems.length === 0,
    problems,
    conversationId: findings.conversationId,
    model: findings.model,
    outcome: log.outcome,
    explanation: findings.explanation,
    files: files.length,
    filesRead: filesRead(findings),
    bytes: byteCount(files),
    factsExpected: factCount(job),
    factsRight: report.right,
    wrongFacts: report.wrong
      .slice(0, NAMED_FACTS)
      .map(({ label, column, expected, found }) => ({ item: label, fact: column, expected, found })),
    modelCalls: log.modelCalls,
    steps: log.steps,
    compactions: log.compactions,
    lookups: log.lookups,
    overflows: log.overflows,
    kills: takeovers.length,
    takeoverMs: takeovers.flatMap(({ milliseconds }) => milliseconds ?? []),
    maxTokens: log.maxTokens,
    window: findings.window,
    tokensWithoutCompaction: log.tokensWithoutCompaction,
    entries: log.entries,
    lostEntries: log.lostEntries,
    doubledEntries: log.doubledEntries,
    historyBytes: history.bytes,
    historyEvents: history.events,
    continuedAsNew: history.continuedAsNew,
    turnMs: Math.round(findings.turnMilliseconds),
    wallMs: Math.round(findings.wallMilliseconds),
  };
}

function filesRead({ job, log }: DemoFindings): number {
  return filesOf(job).filter(({ path }) => log.pathsRead.has(path)).length;
}

/** Everything that makes the demo fail. */
function problemsOf(findings: DemoFindings): readonly string[] {
  const { job, report, log, history, takeovers } = findings;
  const unread = filesOf(job).length - filesRead(findings);
  const unproven = takeovers.filter(({ activity }) => (history.attempts.get(activity) ?? 0) < 2);
  return [
    ...(log.outcome === 'completed'
      ? []
      : [
          `the turn ended as ${log.outcome ?? 'nothing'}${log.reason === null ? '' : ` (${log.reason})`}, not as completed`,
        ]),
    ...(log.outcome === 'context_exhausted' ? ['an overflow was not recovered'] : []),
    ...(report.wrong.length === 0 ? [] : [`${report.wrong.length} of ${factCount(job)} facts are missing or wrong`]),
    ...(report.doubled.length === 0 ? [] : [`the report has more than one row for ${report.doubled.join(', ')}`]),
    ...(unread === 0 ? [] : [`${unread} of ${filesOf(job).length} files were never read`]),
    ...(log.lostEntries === 0 ? [] : [`${log.lostEntries} entries are lost`]),
    ...(log.doubledEntries === 0 ? [] : [`${log.doubledEntries} entries are doubled`]),
    ...unproven.map(({ activity }) => `the history shows no second attempt of ${activity}`),
    ...takeovers
      .filter(({ milliseconds }) => milliseconds === null)
      .map(({ words }) => `nothing went on after the kill ${words}`),
  ];
}
