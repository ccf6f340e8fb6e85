import { CancellationScope, continueAsNew, makeContinueAsNewFunc } from '@temporalio/workflow';
import type { CallModelResult, TurnResult, Unfinished, ViewReference } from '../turn/activity-values.ts';
import { carryOver, goOn, startProgress, isContinued, findLoop } from '../turn/progress.ts';
import type { TurnCarryOver, TurnProgress } from '../turn/progress.ts';
import { OVERFLOW_RECOVERIES_PER_TURN } from '../turn/limits.ts';
import { turnActivities } from './activity-options.ts';
import type { TurnActivities } from './activity-options.ts';
import { fitContext } from './compaction.ts';
import { awaitDecisions, listenForDoorbell, watchForStop, isHistoryLong, isStop, watchTimeLimits } from './control.ts';
import type { Rings } from './control.ts';
import { showTurn } from './display.ts';
import type { TurnDisplay } from './display.ts';
import { obeyCommand, endTurn, endWithoutContext, interruption, resultOfRun } from './turn-end.ts';
import type { LoopEnd } from './turn-end.ts';
import { runToolCalls } from './tool-calls.ts';

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

/** The loop: prepares the context with waiting messages, asks the model and runs tools, until an answer has no tool call. */
async function takeSteps(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  rings: Rings,
): Promise<LoopEnd> {
  for (;;) {
    if (isHistoryLong()) return 'history_full';
    let view = progress.undecided;
    if (view === undefined) {
      const loop = findLoop(progress.loopGuard, progress.settings.loopLimits);
      if (loop !== null) return { outcome: 'budget_exhausted', reason: loop };
      progress.callNumber += 1;
      const context = await fitContext(activities, progress, display);
      if (context.kind !== 'ready') return endWithoutContext(context);
      ({ view } = context);
    }
    const answer = await callModel(activities, progress, display, view);
    switch (answer.kind) {
      case 'overflow':
        if (!recoversFromOverflow(progress)) return { outcome: 'context_exhausted', reason: 'second_overflow' };
        break;
      case 'moved':
        // An entry came each time. The next check counts it, and the next call shows it.
        break;
      case 'fallback':
        takeOver(progress, display, answer);
        break;
      case 'failed':
        return {
          outcome: answer.reason === 'media_too_large' ? 'context_exhausted' : 'model_failed',
          reason: answer.reason ?? null,
        };
      case 'refused':
        return { outcome: 'refused', reason: null };
      case 'answered': {
        progress.steps += 1;
        display.setCost(answer.turnCost);
        if (answer.calls.length > 0 || answer.limit !== undefined) {
          const isOpen =
            answer.asks === true &&
            (await awaitDecisions(activities, progress, display, { rings, runnable: answer.calls.length })) ===
              'history_full';
          if (isOpen) return leaveUndecided(progress, view);
          display.runningTools(answer.calls.length);
          const isNews = await runToolCalls(activities, progress, answer);
          if (answer.limit !== undefined) return { outcome: 'budget_exhausted', reason: answer.limit };
          if (isNews) delete progress.continued;
        } else if (!isContinued(progress, answer.unfinished)) {
          return endAfterLastStep(activities, progress, display, answer.unfinished);
        }
        break;
      }
    }
  }
}

/** The next run asks for the same stored answer again and waits on. */
function leaveUndecided(progress: TurnProgress, view: ViewReference): LoopEnd {
  progress.steps -= 1;
  progress.undecided = view;
  return 'history_full';
}

/** Whether the next check makes room: once a turn and model, or as often as the policy allows. */
function recoversFromOverflow(progress: TurnProgress): boolean {
  if (progress.overflowRecoveries >= (progress.settings.facts.overflowRecoveries ?? OVERFLOW_RECOVERIES_PER_TURN))
    return false;
  progress.overflowRecoveries += 1;
  progress.forced = 'overflow';
  return true;
}

function callModel(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  view: ViewReference,
): Promise<CallModelResult> {
  const { turn, callNumber } = progress;
  delete progress.undecided;
  display.calling(view);
  return activities.callModel.executeWithOptions({ summary: display.callSummary(view) }, [
    { turn, callNumber, headEntryId: view.headEntryId },
  ]);
}

/** Another model answers from here on, with its own window and its own recoveries from overflow. */
function takeOver(
  progress: TurnProgress,
  display: TurnDisplay,
  { model, window }: Extract<CallModelResult, { kind: 'fallback' }>,
): void {
  progress.settings = { ...progress.settings, facts: { ...progress.settings.facts, model, window } };
  progress.overflowRecoveries = 0;
  display.modelChanged();
}

/**
 * Presets that count by reports check once more after the last answer (seeds/pi.md, seeds/opencode.md). A stop ends this check, and the
 * turn stays answered.
 */
async function endAfterLastStep(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  unfinished: Unfinished | undefined,
): Promise<LoopEnd> {
  if (progress.settings.facts.checkAfterLastStep === true) {
    progress.callNumber += 1;
    try {
      await fitContext(activities, progress, display, true);
    } catch (error) {
      if (!isStop(error)) throw error;
    }
  }
  return { outcome: 'completed', reason: unfinished ?? null };
}
