import type { CompactContextInput, PlannedCompaction, PlannedPart, ViewReference } from '../turn/activity-values.ts';
import type { TurnProgress } from '../turn/carry-over.ts';
import { CONCURRENT_SUMMARIES } from '../turn/limits.ts';
import { noteCompaction } from '../turn/loop-guard.ts';
import type { TurnActivities } from './activity-options.ts';
import type { TurnDisplay } from './display.ts';
import { consuming } from './inbox.ts';
import { sideBySide } from './side-by-side.ts';
import { noteNews } from './time-limits.ts';

export type FittedContext =
  | { readonly kind: 'ready'; readonly view: ViewReference; readonly declined?: true }
  | { readonly kind: 'exhausted'; readonly tokens: number }
  | ReachedLimit;

interface ReachedLimit {
  readonly kind: 'limit';
  readonly reason: string;
}

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
    const limit = await summarizeWaves(activities, progress, planned);
    if (limit !== null) return limit;
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

/**
 * Parts of a wave run up to eight at once, waves one after another; after a part that failed for good the rest is not worth its
 * price. Returns the limit that kept a part from being written, or `null`.
 */
async function summarizeWaves(
  activities: TurnActivities,
  progress: TurnProgress,
  planned: PlannedCompaction,
): Promise<ReachedLimit | null> {
  for (const wave of planned.waves) {
    let failed = false;
    let limit: ReachedLimit | null = null;
    const summarizePart = async (part: PlannedPart): Promise<void> => {
      const result = await activities.summarize.executeWithOptions({ summary: part.label }, [
        { turn: progress.turn, compactionId: planned.compactionId, part: part.number, ...limitsToCheck(progress) },
      ]);
      noteNews(progress);
      failed ||= result.kind === 'failed';
      if (result.kind === 'limit') limit = result;
    };
    await sideBySide(CONCURRENT_SUMMARIES, wave, summarizePart, () => failed || limit !== null);
    if (failed || limit !== null) return limit;
  }
  return null;
}
