import type {
  CompactContextInput,
  CompactContextResult,
  PlannedCompaction,
  PlannedPart,
  ViewReference,
} from '../turn/activity-values.ts';
import { noteCompaction, noteProgress } from '../turn/progress.ts';
import type { TurnProgress } from '../turn/progress.ts';
import { CONCURRENT_SUMMARIES } from '../turn/limits.ts';
import type { TurnActivities } from './activity-options.ts';
import type { TurnDisplay } from './display.ts';
import { sideBySide } from './control.ts';

export type FittedContext =
  | { readonly kind: 'ready'; readonly view: ViewReference; readonly declined?: true }
  | { readonly kind: 'exhausted' }
  | ReachedLimit;

interface ReachedLimit {
  readonly kind: 'limit';
  readonly reason: string;
}

/**
 * Runs before every model call. Usually the check within the workflow task answers "fits". Otherwise the planned parts are summarized in
 * waves and committed. A weaker form follows a failed one.
 */
export async function fitContext(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  turnIsOver = false,
): Promise<FittedContext> {
  const input = {
    turn: progress.turn,
    callNumber: progress.callNumber,
    forced: progress.forced,
    ...(turnIsOver && { turnIsOver: true as const }),
  };
  const first = await checkContext(activities, progress, display, input);
  const check = first.kind === 'hooks_due' ? await activities.askHooks(input) : first;
  if (check.kind === 'exhausted' || check.kind === 'limit') return check;
  if (check.kind === 'fits') {
    progress.forced = null;
    return { kind: 'ready', view: check.view, ...(check.declined === true && { declined: true }) };
  }
  let planned = check.planned;
  for (;;) {
    display.compacting(planned);
    const limit = await summarizeWaves(activities, progress, planned);
    if (limit !== null) return limit;
    const { compactionId } = planned;
    const summary = display.commitSummary(planned);
    const commit = await activities.commitCompaction.executeWithOptions({ summary }, [
      { turn: progress.turn, compactionId },
    ]);
    if (commit.kind === 'exhausted') return commit;
    if (commit.kind === 'moved') {
      progress.callNumber += 1;
      return fitContext(activities, progress, display, turnIsOver);
    }
    if (commit.kind !== 'planned') {
      if (commit.kind === 'committed') progress.compactions += 1;
      if (planned.requested !== true) progress.loopGuard = noteCompaction(progress.loopGuard);
      progress.forced = null;
      // A user who only asked for the compaction has it, and no model is asked after it.
      if (commit.limit !== undefined && !progress.settings.commandOnly) return { kind: 'limit', reason: commit.limit };
      return { kind: 'ready', view: commit.view };
    }
    planned = commit.planned;
  }
}

/**
 * A plan is made by an activity of its own. So is a check that failed or took too long, with the retries of all others; after a stop no
 * activity begins.
 */
async function checkContext(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  input: CompactContextInput,
): Promise<Exclude<CompactContextResult, { kind: 'plan_due' }>> {
  const options = { summary: display.checkSummary() };
  const noted = (check: CompactContextResult): CompactContextResult => {
    if ('tookMessages' in check) progress.loopGuard = noteProgress(progress.loopGuard);
    return check;
  };
  let check: CompactContextResult;
  try {
    check = noted(await activities.checkContext.executeWithOptions(options, [{ ...input, withinTask: true }]));
  } catch {
    check = PLAN_DUE;
  }
  while (check.kind === 'plan_due') check = noted(await activities.compactContext.executeWithOptions(options, [input]));
  return check;
}

const PLAN_DUE = { kind: 'plan_due' } as const;

/**
 * Runs the parts of a wave up to eight at once, and the waves in order. After a permanent failure the rest is not worth its price.
 * @returns the limit that kept a part from being written, or `null`
 */
export async function summarizeWaves(
  activities: TurnActivities,
  progress: TurnProgress,
  planned: PlannedCompaction,
): Promise<ReachedLimit | null> {
  for (const wave of planned.waves) {
    let failed = false;
    let limit: ReachedLimit | null = null;
    const summarizePart = async (part: PlannedPart): Promise<void> => {
      const result = await activities.summarize.executeWithOptions({ summary: part.label }, [
        { turn: progress.turn, compactionId: planned.compactionId, part: part.number },
      ]);
      failed ||= result.kind === 'failed';
      if (result.kind === 'limit') limit = result;
    };
    await sideBySide(CONCURRENT_SUMMARIES, wave, summarizePart, () => failed || limit !== null);
    if (failed || limit !== null) return limit;
  }
  return null;
}
