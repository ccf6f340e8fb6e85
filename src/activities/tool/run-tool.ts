import { CancelledFailure } from '@temporalio/common';
import type { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../store/database/ids.ts';
import { StoreError } from '../../store/database/errors.ts';
import { claimToolCall, keepPartialOutput, openToolCall, storeToolResult } from '../../store/attempts/tool-calls.ts';
import type { Claimer, ToolCallRow, ToolCallOutcome } from '../../store/attempts/tool-calls.ts';
import { idempotencyKeyOf } from '../../store/attempts/tool-call-rows.ts';
import { newText } from '../../store/log/entries.ts';
import type { NewContent } from '../../store/log/entries.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import { killMarkedProcesses } from '../../tools/process/end-processes.ts';
import { runToolCall } from '../../tools/runtime/run-tool-call.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { RunToolInput, RunToolResult } from '../../turn/activity-values.ts';
import { TOOL_TIMEOUT_MARGIN_MILLISECONDS } from '../../turn/limits.ts';
import { describeError, retryableFailure, LackedHere, lacksTool, takeOn, throughOutage } from '../runtime/failures.ts';
import { withPatientMemory, contextOf, offerOf } from './tool-context.ts';
import { fingerprintOf, fingerprintOfUnknown, isRecall, keepLater, storeToolEnd } from './tool-call.ts';
import { resultOfDecision, wantedDecision, unknownOutcome } from './decisions.ts';
import type { DecidedResult } from './decisions.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { traceToolCall } from '../runtime/show-calls.ts';

/** A call without a result, and the attempt that is to give it one. */
interface OpenCall {
  readonly input: RunToolInput;
  readonly call: ToolCallRow;
  readonly snapshot: AgentSnapshot;
  readonly claimer: Claimer;
  readonly execution: Execution;
}

/**
 * Workers that may die during one call before it is given up. Otherwise a tool that kills its process would kill one worker after the
 * other. Higher than a rolling deploy or a restarting machine can reach.
 */
const MOST_CLAIMS = 5;

/**
 * Runs one tool call. Claims it in the commit before the tool runs, so that a retry knows whether it may act again, and stores its result
 * with the entry in one transaction.
 */
export async function runTool(
  dependencies: ActivityDependencies,
  input: RunToolInput,
  execution: Execution,
): Promise<RunToolResult> {
  const { database, workerIdentity } = dependencies;
  const claimer = { workerIdentity, runId: execution.runId, activityAttempt: execution.attempt };
  const [{ snapshot }, call] = await Promise.all([
    readSnapshot(database, input.turn.turnId),
    openToolCall(database, { ...input, ...claimer }),
  ]);
  if (call.outcome !== null) return finishedBefore(input, call, call.outcome);
  // The turn may have begun on a worker with a tool that this one lacks.
  if (lacksTool(dependencies, snapshot, call.name)) throw new LackedHere({ needs: 'tool', name: call.name });
  await takeOn(dependencies, input.turn, execution.attempt);
  const open = { input, call, snapshot, claimer, execution };
  const result = await resultWithoutRun(dependencies, open);
  return result === null ? run(dependencies, open) : storeWithoutRun(dependencies, open, result);
}

/**
 * A result that a worker stored but could not report. The loop guard gets what that worker would have reported, and does not take it for
 * progress.
 */
function finishedBefore({ turn }: RunToolInput, call: ToolCallRow, outcome: ToolCallOutcome): RunToolResult {
  const fingerprint = call.fingerprint ?? fingerprintOfUnknown({ turnId: turn.turnId, call });
  return reported(call, outcome, fingerprint);
}

function reported(call: ToolCallRow, outcome: ToolCallOutcome, fingerprint: string): RunToolResult {
  const state = outcome === 'not_run' ? 'failed' : outcome;
  return { state, fingerprint, ...(isRecall(call.name) && { recall: true }) };
}

/** The claim that took the call over may itself be too late for Temporal. The next try finds its result. */
function supersededAttempt(): ApplicationFailure {
  return retryableFailure('SupersededAttempt', 'another attempt took this tool call over', 1_000);
}

interface ResultWithoutRun {
  readonly outcome: ToolCallOutcome;
  readonly content: NewContent;
  readonly fingerprint: string;
}

/**
 * The result of a person's decision, or of an earlier claim that may have acted; `null` if the tool may run. A decision on the call holds,
 * whatever its tool says now. A call that began before its tool asked (a newer version, another hour) is not reported as not run.
 */
async function resultWithoutRun(
  dependencies: ActivityDependencies,
  { input, call, snapshot }: OpenCall,
): Promise<ResultWithoutRun | null> {
  const { decision, claimedAt } = call;
  const wanted = { name: call.name, argumentsText: call.arguments };
  const isUnasked = decision === null && (await wantedDecision(dependencies, snapshot, wanted)) !== null;
  const isDecided = decision !== null || (isUnasked && claimedAt === null);
  const decided = isDecided ? resultOfDecision(decision) : null;
  if (decided !== null) return decidedResult(dependencies, { input, call }, decided);
  if (claimedAt === null || (!isUnasked && mayRunAgain(dependencies, call))) return null;
  // A command that the dead worker left on this machine would go on acting unseen.
  await killMarkedProcesses(idempotencyKeyOf(input));
  const content = unknownOutcome({ ...call, claimedAt });
  const fingerprint = fingerprintOfUnknown({ turnId: input.turn.turnId, call });
  return { outcome: 'outcome_unknown', content, fingerprint };
}

function decidedResult(
  { secrets }: ActivityDependencies,
  { input, call }: Pick<OpenCall, 'input' | 'call'>,
  decided: DecidedResult,
): ResultWithoutRun {
  const content = newText(maskText(decided.text, secrets));
  const fingerprint = fingerprintOf({ ...content, ...decided, turnId: input.turn.turnId, call });
  return { outcome: decided.answered ? 'succeeded' : 'not_run', content, fingerprint };
}

/** After a crash a tool without effect, or an idempotent one, runs again; a `once` tool never does. */
function mayRunAgain({ tools }: ActivityDependencies, call: ToolCallRow): boolean {
  return call.attempt < MOST_CLAIMS && tools.get(call.name)?.effect !== 'once';
}

async function storeWithoutRun(
  dependencies: ActivityDependencies,
  { input, call, execution }: OpenCall,
  { outcome, content, fingerprint }: ResultWithoutRun,
): Promise<RunToolResult> {
  const { database, workerIdentity, outlastingWork } = dependencies;
  const attempt = call.attempt + 1;
  const given = { ...input, ...content, entryId: newId(), attempt, isWithoutRun: true, workerIdentity };
  const stored = await outlastingWork.finish(execution, (lasting) =>
    throughOutage(dependencies, lasting, () => storeToolResult(database, { ...given, outcome, fingerprint })),
  );
  if (stored.state === 'late') throw supersededAttempt();
  return reported(call, stored.outcome, fingerprint);
}

async function run(
  dependencies: ActivityDependencies,
  { input, call, snapshot, claimer, execution }: OpenCall,
): Promise<RunToolResult> {
  const entryId = newId();
  const attempt = call.attempt + 1;
  const fence = dependencies.fenceWatch.watch({ purpose: 'tool_call', ...input, attempt });
  const signal = AbortSignal.any([execution.signal, fence.signal]);
  let isClaimed = false;
  const claim = async (): Promise<void> => {
    await claimCall(dependencies, { ...input, ...claimer, attempt }, { signal, execution });
    isClaimed = true;
  };
  try {
    await dependencies.readKeys();
    const end = await runToolCall({
      ...offerOf(dependencies, snapshot),
      name: call.name,
      argumentsText: call.arguments,
      entryId,
      claim,
      // The turn may have begun with another version of the tool, with less time.
      timeLimit: execution.timeLimit - TOOL_TIMEOUT_MARGIN_MILLISECONDS,
      keepPartialOutput: (partial) => keepOutput(dependencies, { ...input, ...partial, attempt }),
      context: withPatientMemory(dependencies, {
        ...contextOf(dependencies, { ...input, attempt, owner: call.owner }, snapshot),
        signal,
        requireClaim: async () => {
          await throughOutage(dependencies, { signal }, () => fence.isHeld());
          fence.signal.throwIfAborted();
        },
      }),
    });
    if (end.later !== undefined) void keepLater(dependencies, input, { later: end.later, call, attempt, execution });
    const fingerprint = fingerprintOf({ ...end, turnId: input.turn.turnId, call });
    const stored = await dependencies.outlastingWork.finish(execution, async (lasting) => {
      try {
        // The turn was stopped or the worker shuts down, and the call is closed by that. If the call was taken over, it is closed
        // already, and its late result is kept beside the log, in one place.
        if (end.ending === 'aborted') {
          const isHeld = await throughOutage(dependencies, lasting, () => fence.isHeld());
          if (isHeld) throw new CancelledFailure('tool call aborted');
          if (end.later !== undefined) throw supersededAttempt();
        }
        dependencies.reachCrashPoint('finished');
        const result = { end, entryId, attempt, fingerprint, isWithoutRun: !isClaimed };
        return await throughOutage(dependencies, lasting, () => storeToolEnd(dependencies, input, result));
      } finally {
        await end.dispose();
      }
    });
    if (stored.state === 'late') throw supersededAttempt();
    traceToolCall(call.arguments, end.content);
    return reported(call, stored.outcome, fingerprint);
  } finally {
    fence.end();
  }
}

/**
 * Waits for Postgres as long as the activity lasts: a failure would leave a claim whose reply was lost to the worker of the next attempt,
 * which would have to take the outcome for unknown.
 */
async function claimCall(
  dependencies: ActivityDependencies,
  claim: Parameters<typeof claimToolCall>[1],
  { signal, execution }: { readonly signal: AbortSignal; readonly execution: Execution },
): Promise<void> {
  try {
    await throughOutage(dependencies, { signal }, () => claimToolCall(dependencies.database, claim));
  } catch (error) {
    // A stop must not look like a failure.
    execution.signal.throwIfAborted();
    throw error;
  }
}

/** A call must not fail because its partial output could not be stored. The fence and the result report every cause. */
async function keepOutput(
  { database, logger }: ActivityDependencies,
  partial: Parameters<typeof keepPartialOutput>[1],
): Promise<void> {
  try {
    await keepPartialOutput(database, partial);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'stale_epoch') return;
    logger.debug(describeError(error), 'partial output could not be noted');
  }
}
