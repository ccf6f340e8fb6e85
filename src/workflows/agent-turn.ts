import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  makeContinueAsNewFunc,
} from '@temporalio/workflow';
import type { EndTurnInput, EndTurnResult, TurnResult } from '../turn/activity-values.ts';
import { carryOver, goOn, startProgress } from '../turn/progress.ts';
import type { TurnCarryOver, TurnProgress } from '../turn/progress.ts';
import type { TurnOutcome } from '../turn/turn-reference.ts';
import { turnActivities } from './activity-options.ts';
import type { TurnActivities } from './activity-options.ts';
import { fitContext, summarizeWaves } from './compaction.ts';
import { isStop, listenForDoorbell, watchForStop, watchTimeLimits } from './control.ts';
import type { Rings } from './control.ts';
import { showTurn } from './display.ts';
import type { TurnDisplay } from './display.ts';
import { takeSteps } from './steps.ts';
import type { LoopEnd, TurnEnd } from './steps.ts';

export interface AgentTurnInput {
  readonly conversationId: string;
  /** Present if the turn continues from an earlier run. */
  readonly carryOver?: TurnCarryOver;
  /** The last run was cancelled in Temporal after its own turn had ended, so the turn that begins is stopped. */
  readonly cancelled?: true;
}

/**
 * One turn, from waiting user messages to an outcome. Its workflow id keeps it the only turn of the conversation. Activities do all
 * writes; the workflow sees ids and counts.
 * @returns how the turn ended; `null` if nothing was waiting
 */
export async function agentTurn(input: AgentTurnInput): Promise<TurnResult | null> {
  const { conversationId } = input;
  const activities = turnActivities();
  const rings = listenForDoorbell();
  const run = CancellationScope.current();
  // Temporal's own cancel ends the turn like a stop, and must not cut short anything outside the loop.
  return CancellationScope.nonCancellable(async () => {
    // Rows are committed before their ring, so an activity reads every row whose ring came before it began.
    let seen = rings();
    const { progress, stopRequested } = await beginOrGoOn(activities, input);
    if (progress === null) {
      if (rings() !== seen) await nextTurn({ conversationId });
      return null;
    }
    const display = showTurn(progress);
    let isStopped = stopRequested || input.cancelled === true;
    for (;;) {
      const end = await untilStopped(activities, progress, display, { rings, seen, isStopped, run });
      if (end === 'history_full') return continueAsNew({ conversationId, carryOver: carryOver(progress) });
      seen = rings();
      const cancelled = run.consideredCancelled || input.cancelled === true;
      const ended = await endTurn(activities, { turn: progress.turn, ...end, ...(cancelled && { cancelled }) });
      if (ended.kind === 'ended') {
        display.ended(ended.outcome);
        // Nothing is awaited from here to the return. A later ring starts the next run, and an earlier one is seen here.
        if (ended.waiting || rings() !== seen) {
          await nextTurn({ conversationId, ...(run.consideredCancelled && !cancelled && { cancelled: true }) });
        }
        return resultOfRun(ended);
      }
      isStopped = run.consideredCancelled;
    }
  });
}

/** The next turn begins on the newest version of the workers. Within a turn the version stays. */
const nextTurn = makeContinueAsNewFunc<typeof agentTurn>({ initialVersioningBehavior: 'AUTO_UPGRADE' });

/** @returns `progress`: `null` if nothing waits. `stopRequested`: a waiting stop is obeyed first */
async function beginOrGoOn(
  activities: TurnActivities,
  { conversationId, carryOver: carried }: AgentTurnInput,
): Promise<{ readonly progress: TurnProgress | null; readonly stopRequested: boolean }> {
  if (carried !== undefined) {
    const { settings, stopRequested } = await activities.continueTurn({ turn: carried.turn });
    return { progress: goOn(carried, settings), stopRequested };
  }
  const begun = await activities.beginTurn({ conversationId });
  if (begun.kind === 'nothing_waiting') return { progress: null, stopRequested: false };
  return { progress: startProgress(begun), stopRequested: begun.stopRequested };
}

const STOPPED: LoopEnd = { outcome: 'stopped', reason: null };

/** Runs the loop in a scope that ends with a stop, Temporal's own cancel or a limit of time. */
async function untilStopped(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  control: {
    readonly rings: Rings;
    /** Rings that were answered. */
    readonly seen: number;
    readonly isStopped: boolean;
    readonly run: CancellationScope;
  },
): Promise<LoopEnd> {
  if (progress.settings.refusal !== undefined) return progress.settings.refusal;
  const scope = new CancellationScope({ cancellable: true });
  let { isStopped } = control;
  const stop = (): void => {
    isStopped = true;
    scope.cancel();
  };
  control.run.cancelRequested.catch(stop);
  if (isStopped) stop();
  let lost: unknown;
  let timeLimit: string | null = null;
  const watches = [
    watchForStop(activities, progress.turn, { ...control, stop }),
    watchTimeLimits(activities, progress, (limit) => {
      timeLimit = limit;
      scope.cancel();
    }),
  ];
  // A rejection while the turn waits for people would fail the workflow task again and again, and the turn would never end.
  const watched = watches.map(({ ended }) =>
    ended.catch((error: unknown) => {
      if (isStop(error)) return;
      lost = error;
      scope.cancel();
    }),
  );
  try {
    const end = await scope.run(() =>
      progress.settings.commandOnly
        ? obeyCommand(activities, progress, display)
        : takeSteps(activities, progress, display, control.rings),
    );
    // Obeyed in this run, because the next run would not know of the cancel.
    return end === 'history_full' && isStopped ? STOPPED : end;
  } catch (error) {
    if (lost !== undefined) return interruption(lost);
    if (!isStop(error)) return interruption(error);
    return timeLimit === null || isStopped ? STOPPED : { outcome: 'budget_exhausted', reason: timeLimit };
  } finally {
    for (const watch of watches) watch.close();
    await Promise.all(watched);
  }
}

/**
 * A failure that no retry can repair ends the turn with an outcome, so that nobody waits in vain. If another run took the turn over,
 * writing the outcome fails too, and so does the workflow.
 */
function interruption(error: unknown): TurnEnd {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  return {
    outcome: 'interrupted',
    reason: cause instanceof ApplicationFailure ? (cause.type ?? null) : error.activityType,
  };
}

/** @returns what is stored: a stop may have changed the outcome meanwhile, or messages let the turn go on */
function endTurn({ endTurn: write }: TurnActivities, input: EndTurnInput): Promise<EndTurnResult> {
  return write.executeWithOptions({ summary: input.outcome }, [input]);
}

/** Outcomes that need a person. Temporal lists their runs as failed, with the outcome as the failure's type. */
const FAILED: ReadonlySet<TurnOutcome> = new Set(['interrupted', 'model_failed', 'context_exhausted']);

/** The result for the Temporal UI only. Clients read the outcome from the turn's row. */
function resultOfRun({ outcome, reason, explanation, steps, cost }: TurnResult): TurnResult {
  const result = { outcome, reason, explanation, steps, cost };
  if (!FAILED.has(outcome)) return result;
  throw ApplicationFailure.create({ type: outcome, message: explanation, details: [result], nonRetryable: true });
}

/** A command for an idle conversation: the turn has no step. */
async function obeyCommand(activities: TurnActivities, progress: TurnProgress, display: TurnDisplay): Promise<TurnEnd> {
  if (progress.settings.branchRequested === true) return changeBranch(activities, progress);
  progress.callNumber += 1;
  const context = await fitContext(activities, progress, display);
  if (context.kind === 'limit') return { outcome: 'budget_exhausted', reason: context.reason };
  const isDeclined = context.kind !== 'ready' || context.declined === true;
  return { outcome: 'completed', reason: isDeclined ? 'nothing_to_compact' : null };
}

async function changeBranch(activities: TurnActivities, progress: TurnProgress): Promise<TurnEnd> {
  const { turn } = progress;
  let change = await activities.changeBranch({ turn });
  if (change.kind === 'planned') {
    await summarizeWaves(activities, progress, change.planned);
    change = await activities.changeBranch({ turn, isSummarized: true });
  }
  return { outcome: 'completed', reason: change.kind === 'refused' ? change.reason : null };
}
