import type { CalledTools, CallModelResult, Unfinished, ViewReference } from '../turn/activity-values.ts';
import {
  CONCURRENT_TOOL_CALLS,
  OVERFLOW_RECOVERIES_PER_TURN,
  TOOL_TIMEOUT_MARGIN_MILLISECONDS,
} from '../turn/limits.ts';
import { findLoop, continueUnfinished, isNewResult, noteToolResult } from '../turn/progress.ts';
import type { EndedCall, TurnProgress } from '../turn/progress.ts';
import type { TurnOutcome } from '../turn/turn-reference.ts';
import type { TurnActivities } from './activity-options.ts';
import { fitContext } from './compaction.ts';
import type { FittedContext } from './compaction.ts';
import { awaitDecisions, isHistoryLong, isStop, sideBySide } from './control.ts';
import type { Rings } from './control.ts';
import type { TurnDisplay } from './display.ts';

export interface TurnEnd {
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
}

/** `history_full`: the turn continues in a new run. */
export type LoopEnd = TurnEnd | 'history_full';

/** The loop: prepares the context with waiting messages, asks the model and runs tools, until an answer has no tool call. */
export async function takeSteps(
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
        if (!recoverFromOverflow(progress)) return { outcome: 'context_exhausted', reason: 'second_overflow' };
        break;
      case 'moved':
        // The next check reads the head anew.
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
        } else if (!continueUnfinished(progress, answer.unfinished)) {
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

/**
 * Makes the next check force a compaction: once a turn and model, or as often as the policy allows.
 * @returns whether it will
 */
function recoverFromOverflow(progress: TurnProgress): boolean {
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

/** What follows if the context could not be prepared. */
function endWithoutContext(context: Exclude<FittedContext, { kind: 'ready' }>): TurnEnd {
  switch (context.kind) {
    case 'limit':
      return { outcome: 'budget_exhausted', reason: context.reason };
    case 'exhausted':
      return { outcome: 'context_exhausted', reason: 'irreducible' };
  }
}

/**
 * Runs all tool calls of one answer: exclusive ones alone and in order, the others up to eight at a time.
 * @returns whether a result was new to the turn
 */
async function runToolCalls(
  activities: TurnActivities,
  progress: TurnProgress,
  { tools, calls: places }: { readonly tools: CalledTools; readonly calls: readonly number[] },
): Promise<boolean> {
  // Each call once, because calls of one answer were made without each other's results.
  const ended = new Map<string, EndedCall>();
  const calls = places.map((place) => ({
    name: tools.names[place] ?? '',
    exclusive: tools.exclusive.includes(place),
    timeoutSeconds: tools.timeoutSeconds[place] ?? 0,
  }));
  for (const wave of toolWaves(calls)) {
    await sideBySide(CONCURRENT_TOOL_CALLS, wave, async (callIndex) => {
      const tool = calls[callIndex];
      if (tool === undefined) return;
      const result = await activities.runTool.executeWithOptions(
        {
          summary: tool.name,
          startToCloseTimeout: tool.timeoutSeconds * 1_000 + TOOL_TIMEOUT_MARGIN_MILLISECONDS,
        },
        [{ turn: progress.turn, callNumber: progress.callNumber, callIndex }],
      );
      const { fingerprint } = result;
      ended.set(fingerprint, { fingerprint, recall: result.recall === true });
    });
  }
  let isNews = false;
  for (const call of ended.values()) {
    const guard = progress.loopGuard;
    isNews ||= isNewResult(guard, call);
    progress.loopGuard = noteToolResult(guard, call);
  }
  return isNews;
}

/**
 * Splits the tool calls of one answer into waves. Calls of a wave may run at once; waves run in order. An exclusive call (an edit, a
 * command) is a wave of its own, so it sees what earlier calls did, and later calls see what it did.
 */
export function toolWaves(calls: readonly { readonly exclusive: boolean }[]): number[][] {
  const waves: number[][] = [];
  let open: number[] = [];
  calls.forEach((call, index) => {
    if (call.exclusive) {
      if (open.length > 0) waves.push(open);
      waves.push([index]);
      open = [];
    } else {
      open.push(index);
    }
  });
  if (open.length > 0) waves.push(open);
  return waves;
}
