import { CancellationScope, continueAsNew, makeContinueAsNewFunc } from '@temporalio/workflow';
import type {
  BeginTurnInput,
  CallModelResult,
  EndTurnResult,
  InboxLook,
  ViewReference,
} from '../turn/activity-values.ts';
import { carryOver, startProgress } from '../turn/carry-over.ts';
import type { TurnCarryOver, TurnProgress } from '../turn/carry-over.ts';
import { OVERFLOW_RECOVERIES_PER_TURN } from '../turn/limits.ts';
import { isContinued } from '../turn/continued-answers.ts';
import { findLoop, noteProgress } from '../turn/loop-guard.ts';
import { turnActivities } from './activity-options.ts';
import type { TurnActivities } from './activity-options.ts';
import { fitContext } from './compaction.ts';
import { awaitDecisions } from './decisions.ts';
import { showTurn } from './display.ts';
import type { TurnDisplay } from './display.ts';
import { isHistoryLong } from './history-length.ts';
import { consuming, openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';
import { obeyCommand } from './obey-command.ts';
import { isStop } from './stopped.ts';
import { noteNews, watchTimeLimits } from './time-limits.ts';
import { runToolCalls } from './tool-calls.ts';
import { endTurn, endWithoutContext, interruption, resultOfRun } from './turn-end.ts';
import type { LoopEnd } from './turn-end.ts';

export interface AgentTurnInput {
  readonly conversationId: string;
  /** Present when the turn goes on from an earlier run. */
  readonly carryOver?: TurnCarryOver;
  /** The run before was cancelled in Temporal inside this turn, when its own had ended, or before it had one. */
  readonly cancelled?: true;
}

/**
 * One turn: from the waiting user messages to an outcome. A workflow id per conversation keeps it
 * the only one; what happens is written by activities, and the workflow sees ids and counts.
 * @returns how the last of its turns ended; `null`: nothing was waiting
 */
export async function agentTurn(input: AgentTurnInput): Promise<EndTurnResult | null> {
  const { conversationId, carryOver: carried, cancelled } = input;
  const activities = turnActivities();
  const inbox = openInbox(activities);
  const whole = CancellationScope.current();
  // Temporal's own cancel ends the turn the way a stop does; nothing outside the loop may be cut short by it.
  return CancellationScope.nonCancellable(async () => {
    // The turn may take what was sent after the cancel and go on; only a run that was not cancelled can be.
    if (carried === undefined && whole.consideredCancelled) {
      await nextTurn({ conversationId, cancelled: true });
    }
    // A turn that begins reads what waits; one that goes on in a new run does not, and what rang before its first task is looked at.
    if (carried === undefined || !inbox.isRung()) inbox.markServed();
    const { progress, isCancelled } =
      carried === undefined
        ? await begin(activities, { conversationId, ...told(cancelled === true) })
        : { progress: await resume(activities, carried), isCancelled: cancelled === true };
    let wasCancelled = false;
    let ended: EndTurnResult | null = null;
    if (progress !== null) {
      const display = showTurn(progress);
      if (isCancelled) progress.stopRequested = true;
      const end = await untilStopped(activities, inbox, progress, display, whole.cancelRequested);
      if (end === 'history_full') {
        noteLook(progress, await inbox.lookUntilQuiet(conversationId, progress.turn));
        // A cancel is of this run alone, and nothing in it is left to stop: the next one obeys it.
        if (whole.consideredCancelled) progress.stopRequested = true;
        const next = { conversationId, carryOver: carryOver(progress) };
        return continueAsNew<typeof agentTurn>({ ...next, ...told(isCancelled || whole.consideredCancelled) });
      }
      wasCancelled = whole.consideredCancelled;
      ended = await endTurn(activities, { turn: progress.turn, ...end, ...told(isCancelled || wasCancelled) });
      display.ended(ended.outcome);
    }
    const look = await inbox.lookUntilQuiet(conversationId, null);
    if (look.waiting > 0) await nextTurn({ conversationId, ...told(whole.consideredCancelled && !wasCancelled) });
    return ended === null ? null : resultOfRun(ended);
  });
}

/** Of a cancel Postgres knows nothing: whoever has to obey it is told. */
function told(cancelled: boolean): { readonly cancelled?: true } {
  return cancelled ? { cancelled } : {};
}

/** The next turn begins on the newest version of the workers; inside a turn it stays where it is. */
const nextTurn = makeContinueAsNewFunc<typeof agentTurn>({ initialVersioningBehavior: 'AUTO_UPGRADE' });

/** @returns `isCancelled`: the cancel that the run is told of stops the turn */
async function begin(
  activities: TurnActivities,
  input: BeginTurnInput,
): Promise<{ readonly progress: TurnProgress | null; readonly isCancelled: boolean }> {
  const begun = await activities.beginTurn(input);
  if (begun.kind === 'nothing_waiting') return { progress: null, isCancelled: false };
  return { progress: startProgress(begun), isCancelled: input.cancelled === true && begun.outlivesCancel !== true };
}

async function resume(activities: TurnActivities, { progress }: TurnCarryOver): Promise<TurnProgress> {
  await activities.continueTurn({ turn: progress.turn });
  return progress;
}

/** Runs the loop in a scope that a stop cancels, with the inbox watched beside it. */
async function untilStopped(
  activities: TurnActivities,
  inbox: Inbox,
  progress: TurnProgress,
  display: TurnDisplay,
  cancelled: Promise<never>,
): Promise<LoopEnd> {
  if (progress.refusal !== undefined) {
    inbox.close();
    return progress.refusal;
  }
  const scope = new CancellationScope({ cancellable: true });
  const stop = (): void => scope.cancel();
  cancelled.catch(stop);
  if (progress.stopRequested) stop();
  let lost: unknown;
  // Rejected while the turn waits for people, it would fail the workflow task again and again, and the turn would never end.
  const watching = inbox
    .watch(progress, (look) => {
      noteLook(progress, look, look.outdated);
      if (look.stopRequested) stop();
    })
    .catch((error: unknown) => {
      if (isStop(error)) return;
      lost = error;
      stop();
    });
  let timeLimit: string | null = null;
  const timing = watchTimeLimits(progress, (limit) => {
    timeLimit = limit;
    stop();
  });
  try {
    return await scope.run(() => (progress.commandOnly ? obeyCommand : takeSteps)(activities, progress, display));
  } catch (error) {
    if (lost !== undefined) return interruption(lost);
    if (!isStop(error)) return interruption(error);
    return timeLimit === null || progress.stopRequested
      ? { outcome: 'stopped', reason: null }
      : { outcome: 'budget_exhausted', reason: timeLimit };
  } finally {
    inbox.close();
    timing.close();
    await Promise.all([watching, timing.ended]);
  }
}

function noteLook(progress: TurnProgress, look: InboxLook, outdated = false): void {
  progress.stopRequested = look.stopRequested;
  progress.decisionsWaiting = look.decisionsWaiting ?? 0;
  if (outdated) return;
  progress.steeringWaiting = look.steering > 0;
  if (look.compactRequested) progress.forced ??= 'manual';
}

/** The loop: messages, context, model, tools, until the model answers without a tool call. */
async function takeSteps(activities: TurnActivities, progress: TurnProgress, display: TurnDisplay): Promise<LoopEnd> {
  for (;;) {
    if (isHistoryLong()) return 'history_full';
    if (progress.lastAnswer !== undefined) {
      const end = await endAfterLastStep(activities, progress, display);
      if (end !== null) return end;
    }
    let view = progress.undecided;
    if (view === undefined) {
      const limit = reachedLimit(progress);
      if (limit !== null) return { outcome: 'budget_exhausted', reason: limit };
      if (progress.steeringWaiting) await takeSteeringMessages(activities, progress);
      progress.callNumber += 1;
      const context = await fitContext(activities, progress, display);
      if (context.kind !== 'ready') return endWithoutContext(context);
      ({ view } = context);
    }
    const answer = await callModel(activities, progress, display, view);
    if (answer.kind !== 'moved') noteNews(progress);
    switch (answer.kind) {
      case 'overflow':
        if (!recoversFromOverflow(progress)) return { outcome: 'context_exhausted', reason: 'second_overflow' };
        break;
      case 'moved':
        // Each time by something that was appended: the next check counts it, and the next call shows it.
        break;
      case 'fallback':
        takeOver(progress, display, answer);
        break;
      case 'failed':
        return { outcome: 'model_failed', reason: answer.reason ?? null };
      case 'refused':
        return { outcome: 'refused', reason: null };
      case 'answered': {
        progress.steps += 1;
        display.setCost(answer.turnCost);
        if (answer.calls.length > 0) {
          const isOpen =
            answer.asks === true && (await awaitDecisions(activities, progress, display)) === 'history_full';
          if (isOpen) return leaveUndecided(progress, view);
          display.runningTools(answer.calls.length);
          const { isNews, limit: spent } = await runToolCalls(activities, progress, answer);
          if (spent !== null) return { outcome: 'budget_exhausted', reason: spent };
          if (isNews) delete progress.continued;
        } else if (!isContinued(progress, answer.unfinished) && !progress.steeringWaiting) {
          progress.lastAnswer = answer.unfinished === undefined ? {} : { unfinished: answer.unfinished };
          const end = await endAfterLastStep(activities, progress, display);
          if (end !== null) return end;
        }
        break;
      }
    }
  }
}

/** The next run asks for the same answer again, which is stored, and waits on. */
function leaveUndecided(progress: TurnProgress, view: ViewReference): LoopEnd {
  progress.steps -= 1;
  progress.undecided = view;
  return 'history_full';
}

/** Whether the next check makes room: once a turn and model, or as often as the policy allows. */
function recoversFromOverflow(progress: TurnProgress): boolean {
  if (progress.overflowRecoveries >= (progress.facts.overflowRecoveries ?? OVERFLOW_RECOVERIES_PER_TURN)) return false;
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

/** Another model answers from now on: the window of the next check is its own, and so are the recoveries from an overflow. */
function takeOver(
  progress: TurnProgress,
  display: TurnDisplay,
  { model, window }: Extract<CallModelResult, { kind: 'fallback' }>,
): void {
  progress.facts = { ...progress.facts, model, window };
  progress.overflowRecoveries = 0;
  display.modelChanged();
}

/**
 * Presets that count what an answer reports look once more when it was the last one (seeds/pi.md, seeds/opencode.md). A stop
 * ends the check and leaves the turn answered. `null`: a message came meanwhile, and the turn goes on.
 */
async function endAfterLastStep(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
): Promise<LoopEnd | null> {
  const end: LoopEnd = { outcome: 'completed', reason: progress.lastAnswer?.unfinished ?? null };
  if (progress.facts.checkAfterLastStep === true) {
    progress.callNumber += 1;
    try {
      await fitContext(activities, progress, display, true);
    } catch (error) {
      if (isStop(error)) return end;
      throw error;
    }
  }
  delete progress.lastAnswer;
  return progress.steeringWaiting ? null : end;
}

/** The limit that keeps the turn from its next step, or `null`. */
function reachedLimit(progress: TurnProgress): string | null {
  if (progress.steps >= progress.stepLimit) return 'step_limit';
  return findLoop(progress.loopGuard, progress.loopLimits);
}

async function takeSteeringMessages(activities: TurnActivities, progress: TurnProgress): Promise<void> {
  progress.steeringWaiting = false;
  progress.loopGuard = noteProgress(progress.loopGuard);
  const { turn, callNumber } = progress;
  await consuming(progress, () => activities.takeMessages({ turn, callNumber: callNumber + 1 }));
}
