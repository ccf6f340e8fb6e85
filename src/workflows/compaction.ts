import { sleep } from '@temporalio/workflow';
import type {
  CompactContextInput,
  PlannedCompaction,
  PlannedPart,
  SummarizeResult,
  ViewReference,
} from '../turn/activity-values.ts';
import { atMost } from '../turn/at-most.ts';
import type { TurnProgress } from '../turn/carry-over.ts';
import { CONCURRENT_SUMMARIES } from '../turn/limits.ts';
import { noteCompaction } from '../turn/loop-guard.ts';
import type { TurnActivities } from './activity-options.ts';
import type { TurnDisplay } from './display.ts';
import { isHistoryLong } from './history-length.ts';
import { consuming } from './inbox.ts';
import { noteNews } from './time-limits.ts';

export type FittedContext =
  | { readonly kind: 'ready'; readonly view: ViewReference; readonly declined?: true }
  | { readonly kind: 'exhausted'; readonly tokens: number }
  | LeftCompaction;

/** What keeps a planned compaction from being finished in this run. After `history_full` the next one goes on with what is not written. */
type LeftCompaction = { readonly kind: 'limit'; readonly reason: string } | { readonly kind: 'history_full' };

/**
 * Runs before every model call. Usually one activity that answers "fits"; otherwise the planned
 * parts are summarized wave by wave and committed, and a form that failed is followed by a weaker one.
 */
export async function fitContext(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  turnIsOver = false,
): Promise<FittedContext> {
  delete progress.checkLeft;
  const { forced } = progress;
  const input = {
    turn: progress.turn,
    callNumber: progress.callNumber,
    forced,
    ...limitsToCheck(progress),
    ...(turnIsOver && { turnIsOver: true as const }),
  };
  const look = () => activities.compactContext.executeWithOptions({ summary: display.checkSummary() }, [input]);
  // A request that cannot be met is declined, and with that consumed.
  const check = await (forced === 'manual' ? consuming(progress, look) : look());
  if (check.kind === 'fits') {
    // A request that came meanwhile is for the next check.
    if (progress.forced === forced) progress.forced = null;
    return { kind: 'ready', view: check.view, ...(check.declined === true && { declined: true }) };
  }
  if (check.kind === 'exhausted' || check.kind === 'limit') return check;
  let planned = check.planned;
  for (;;) {
    display.compacting(planned);
    const left = await summarizeWaves(activities, progress, display, planned);
    if (left !== null) {
      if (left.kind === 'history_full') leaveCheck(progress);
      return left;
    }
    const { compactionId } = planned;
    const summary = display.commitSummary(planned);
    const commit = await consuming(progress, () =>
      activities.commitCompaction.executeWithOptions({ summary }, [
        { turn: progress.turn, compactionId, ...limitsToCheck(progress) },
      ]),
    );
    if (commit.kind === 'exhausted') return commit;
    if (commit.kind === 'committed') {
      progress.compactions += 1;
      if (progress.forced !== 'manual') progress.loopGuard = noteCompaction(progress.loopGuard);
      // A request to compact that arrived meanwhile joins this compaction (R4).
      progress.forced = null;
      // Who asked for nothing but the compaction has it: no model is asked after it.
      if (commit.limit !== undefined && !progress.commandOnly) return { kind: 'limit', reason: commit.limit };
      return { kind: 'ready', view: commit.view };
    }
    planned = commit.planned;
  }
}

/** The steps alone the workflow counts itself; the database is asked for them only to tell the model. */
function limitsToCheck({ limits, steps }: TurnProgress): Pick<CompactContextInput, 'limits'> {
  if (limits === undefined) return {};
  const { steps: limit = Infinity, ...others } = limits.turn;
  const counted = Object.keys(others).length + Object.keys(limits.conversation).length;
  return counted > 0 || steps >= limit * limits.noteAt ? { limits } : {};
}

/** The next run makes the same check again, under its number and before anything is appended: the plan holds for its head alone. */
function leaveCheck(progress: TurnProgress): void {
  progress.callNumber -= 1;
  progress.checkLeft = true;
}

/**
 * Parts of a wave run up to eight at once, waves one after another; after a part that failed for good the rest is not worth its
 * price. Returns what kept a part from being written, or `null`.
 */
async function summarizeWaves(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  planned: PlannedCompaction,
): Promise<LeftCompaction | null> {
  for (const wave of planned.waves) {
    let written = 0;
    let failed = false;
    let limit: LeftCompaction | null = null;
    await atMost(
      CONCURRENT_SUMMARIES,
      wave,
      async (part) => {
        const result = await summarizePart(activities, progress, display, planned.compactionId, part);
        if (result.kind === 'summarized') written += 1;
        failed ||= result.kind === 'failed';
        if (result.kind === 'limit') limit = result;
      },
      () => failed || limit !== null || isHistoryLong(),
    );
    if (limit !== null) return limit;
    // The weaker form is planned first: a part that failed would be asked for again in the next run.
    if (failed) return null;
    if (written < wave.length) return { kind: 'history_full' };
  }
  return null;
}

async function summarizePart(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  compactionId: string,
  part: PlannedPart,
): Promise<Exclude<SummarizeResult, { kind: 'wait' }> | LeftCompaction> {
  for (;;) {
    const result = await activities.summarize.executeWithOptions({ summary: part.label }, [
      { turn: progress.turn, compactionId, part: part.number, ...limitsToCheck(progress) },
    ]);
    if (result.kind !== 'wait') noteNews(progress);
    if (result.kind !== 'wait') return result;
    display.waitingForRateLimit(result.delayMilliseconds);
    await sleep(result.delayMilliseconds, { summary: 'rate limit' });
    display.rateLimitWaited();
    if (isHistoryLong()) return { kind: 'history_full' };
  }
}
