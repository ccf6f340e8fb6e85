import { CancelledFailure } from '@temporalio/common';
import type { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../store/database/ids.ts';
import { isOutage, StoreError } from '../../store/database/errors.ts';
import { keepPartialOutput, readToolCall, storeToolResult } from '../../store/attempts/tool-calls.ts';
import type { ToolCallOutcome, ToolClaim, ToolResultToStore } from '../../store/attempts/tool-calls.ts';
import { idempotencyKeyOf } from '../../store/attempts/tool-call-rows.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import { killMarkedProcesses } from '../../tools/process/end-processes.ts';
import { runToolCall } from '../../tools/runtime/run-tool-call.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { RunToolInput, RunToolResult } from '../../turn/activity-values.ts';
import { TOOL_TIMEOUT_MARGIN_MILLISECONDS } from '../../turn/limits.ts';
import { describeError, retryableFailure, LackedHere, lacksTool, takeOn } from '../runtime/failures.ts';
import { withPatientMemory, contextOf, offerOf } from './tool-context.ts';
import {
  claimCall,
  giveBackCall,
  reclaimCall,
  fingerprintOf,
  fingerprintOfUnknown,
  isRecall,
  keepLater,
  storeToolEnd,
} from './tool-call.ts';
import { resultOfDecision, wantedDecision, unknownOutcome } from './decisions.ts';
import type { DecidedResult } from './decisions.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { newText } from '../runtime/new-content.ts';
import { throughOutage } from '../runtime/outlasting-work.ts';

type OpenClaim = Exclude<ToolClaim, { state: 'finished' }>;

/** A call under way. */
interface OpenCall {
  readonly input: RunToolInput;
  readonly claim: OpenClaim;
  readonly snapshot: AgentSnapshot;
  readonly execution: Execution;
  /** Call it before the tool runs, and if there is a result without it. After that the call is not given back. */
  readonly begins: () => void;
}

/**
 * Workers that may die during one call before it is given up. Otherwise a tool that kills its process would kill one worker after the
 * other. Higher than a rolling deploy or a restarting machine can reach.
 */
const MOST_ATTEMPTS = 5;

/**
 * Runs one tool call. Claims it before it acts, so that a retry knows whether it may act again, and stores its result with the entry in
 * one transaction.
 */
export async function runTool(
  dependencies: ActivityDependencies,
  input: RunToolInput,
  execution: Execution,
): Promise<RunToolResult> {
  const { database, workerIdentity, reachCrashPoint } = dependencies;
  const { runId, attempt: activityAttempt } = execution;
  const call = { ...input, claimId: newId(), workerIdentity, runId, activityAttempt };
  const { snapshot } = await readSnapshot(database, input.turn.turnId);
  await requireTool(dependencies, input, { snapshot, execution });
  const claim = await claimCall(dependencies, call, execution);
  if (claim.state === 'finished') return finishedBefore(input, claim);
  if (claim.state === 'claimed') reachCrashPoint('runTool:claimed');
  let mayHaveBegun = claim.state === 'claimed_before';
  const begins = (): void => {
    mayHaveBegun = true;
  };
  try {
    return await carryOut(dependencies, { input, claim, snapshot, execution, begins }, (previousAttempt) =>
      reclaimCall(dependencies, { ...call, previousAttempt }, execution),
    );
  } catch (error) {
    // Any other failure may be permanent, so a call that fails before each beginning must end.
    if (mayHaveBegun || !(isOutage(error) || execution.signal.aborted)) throw error;
    return giveBackCall(dependencies, call, execution, error);
  }
}

async function carryOut(
  dependencies: ActivityDependencies,
  call: OpenCall,
  reclaim: (previousAttempt: number) => Promise<{ readonly attempt: number }>,
): Promise<RunToolResult> {
  const { input, claim, snapshot } = call;
  const { decided, isUnasked } = await decidedResult(dependencies, snapshot, claim);
  if (decided !== null) return storeDecidedResult(dependencies, call, decided);
  if (claim.state === 'claimed') return run(dependencies, call);
  if (isUnasked || !mayRunAgain(dependencies, claim)) return storeUnknownOutcome(dependencies, input, claim);
  const { attempt } = await reclaim(claim.attempt);
  dependencies.reachCrashPoint('runTool:reclaimed');
  return run(dependencies, { ...call, claim: { ...claim, attempt } });
}

/**
 * A result that a worker stored but could not report. The loop guard gets what that worker would have reported, and does not take it for
 * progress.
 */
function finishedBefore({ turn }: RunToolInput, claim: Extract<ToolClaim, { state: 'finished' }>): RunToolResult {
  const fingerprint = claim.fingerprint ?? fingerprintOfUnknown({ turnId: turn.turnId, claim });
  return { state: stateOf(claim.outcome), fingerprint, ...(isRecall(claim.name) && { recall: true }) };
}

/** The attempt that took the call over may itself be too late for Temporal. The next try finds its result. */
function supersededAttempt(): ApplicationFailure {
  return retryableFailure('SupersededAttempt', 'another attempt took this tool call over', 1_000);
}

/**
 * The result of a person's decision instead of the tool's; `null` if the tool may run. A decision on the call holds, whatever its tool
 * says now. A call that began before its tool asked (a newer version, another hour) may have acted, so it is not reported as not run, and
 * `isUnasked` keeps it from running again.
 */
async function decidedResult(
  dependencies: ActivityDependencies,
  snapshot: AgentSnapshot,
  claim: OpenClaim,
): Promise<{ readonly decided: DecidedResult | null; readonly isUnasked: boolean }> {
  const { decision } = claim;
  if (decision !== null) return { decided: resultOfDecision(decision), isUnasked: false };
  const call = { name: claim.name, argumentsText: claim.arguments };
  const isUnasked = (await wantedDecision(dependencies, snapshot, call)) !== null;
  return { decided: isUnasked && claim.state === 'claimed' ? resultOfDecision(null) : null, isUnasked };
}

async function storeDecidedResult(
  dependencies: ActivityDependencies,
  { input, claim, execution, begins }: OpenCall,
  decided: DecidedResult,
): Promise<RunToolResult> {
  const content = newText(maskText(decided.text, dependencies.secrets));
  const entryId = newId();
  const fingerprint = fingerprintOf({ ...content, ...decided, turnId: input.turn.turnId, claim });
  const result: ToolResultToStore = {
    ...input,
    ...content,
    entryId,
    fingerprint,
    attempt: claim.attempt,
    workerIdentity: dependencies.workerIdentity,
    outcome: decided.answered ? 'succeeded' : 'not_run',
  };
  begins();
  const stored = await dependencies.outlastingWork.finish(execution, (lasting) =>
    throughOutage(dependencies, lasting, () => storeToolResult(dependencies.database, result)),
  );
  dependencies.reachCrashPoint('runTool:decided');
  if (stored.state === 'late') throw supersededAttempt();
  return { state: stateOf(stored.outcome), fingerprint };
}

/**
 * The turn may have begun on a worker with a tool that this one lacks.
 * @throws LackedHere
 */
async function requireTool(
  dependencies: ActivityDependencies,
  { turn, callNumber, callIndex }: RunToolInput,
  { snapshot, execution }: { readonly snapshot: AgentSnapshot; readonly execution: Execution },
): Promise<void> {
  if (snapshot.tools.some(({ name }) => lacksTool(dependencies, snapshot, name))) {
    const { name, state } = await readToolCall(dependencies.database, { ...turn, callNumber, callIndex });
    if (state !== 'finished' && lacksTool(dependencies, snapshot, name)) throw new LackedHere({ needs: 'tool', name });
  }
  await takeOn(dependencies, turn, execution.attempt);
}

/** After a crash a tool without effect, or an idempotent one, runs again; a `once` tool never does. */
function mayRunAgain({ tools }: ActivityDependencies, claim: Extract<ToolClaim, { state: 'claimed_before' }>): boolean {
  return claim.lost < MOST_ATTEMPTS && tools.get(claim.name)?.effect !== 'once';
}

async function run(
  dependencies: ActivityDependencies,
  { input, claim, snapshot, execution, begins }: OpenCall,
): Promise<RunToolResult> {
  const entryId = newId();
  const { attempt } = claim;
  const { turn, callNumber, callIndex } = input;
  const fence = dependencies.fenceWatch.watch({ kind: 'tool_call', turn, callNumber, callIndex, attempt });
  const signal = AbortSignal.any([execution.signal, fence.signal]);
  try {
    await dependencies.readKeys();
    const end = await runToolCall({
      ...offerOf(dependencies, snapshot),
      name: claim.name,
      argumentsText: claim.arguments,
      entryId,
      begins,
      // The answer's worker may have another version of the tool, with less time.
      timeLimit: execution.timeLimit - TOOL_TIMEOUT_MARGIN_MILLISECONDS,
      keepPartialOutput: (partial) => keepOutput(dependencies, { ...input, ...partial, attempt }),
      context: withPatientMemory(dependencies, {
        ...contextOf(dependencies, { ...input, attempt }, snapshot),
        signal,
        requireClaim: async () => throughOutage(dependencies, { signal }, () => fence.requireHeld()),
      }),
    });
    if (end.ending !== 'aborted') begins();
    const { turnId } = turn;
    if (end.later !== undefined) void keepLater(dependencies, input, { later: end.later, claim, execution });
    const fingerprint = fingerprintOf({ ...end, turnId, claim });
    const stored = await dependencies.outlastingWork.finish(execution, async (lasting) => {
      try {
        // The turn was stopped or the worker shuts down, and the call is closed by that. If the call was taken over, it is closed
        // already, and its late result is kept beside the log, in one place.
        if (end.ending === 'aborted') {
          const isReplaced = await throughOutage(dependencies, lasting, () => fence.isReplaced());
          if (!isReplaced) throw new CancelledFailure('tool call aborted');
          if (end.later !== undefined) throw supersededAttempt();
        }
        dependencies.reachCrashPoint('runTool:finished');
        return await throughOutage(dependencies, lasting, () =>
          storeToolEnd(dependencies, input, { end, entryId, attempt, fingerprint }),
        );
      } finally {
        await end.dispose();
      }
    });
    if (stored.state === 'late') throw supersededAttempt();
    return { state: stateOf(stored.outcome), fingerprint, ...(isRecall(claim.name) && { recall: true }) };
  } finally {
    fence.end();
  }
}

/** A call must not fail because its partial output could not be stored. The fence and the result report every cause. */
async function keepOutput(
  { database, logger, reachCrashPoint }: ActivityDependencies,
  partial: Parameters<typeof keepPartialOutput>[1],
): Promise<void> {
  try {
    await keepPartialOutput(database, partial);
    reachCrashPoint('runTool:output-kept');
  } catch (error) {
    if (error instanceof StoreError && error.code === 'stale_epoch') return;
    logger.debug(describeError(error), 'partial output could not be noted');
  }
}

async function storeUnknownOutcome(
  { database, workerIdentity, reachCrashPoint }: ActivityDependencies,
  input: RunToolInput,
  claim: Extract<ToolClaim, { state: 'claimed_before' }>,
): Promise<RunToolResult> {
  // A command that the dead worker left on this machine would go on acting unseen.
  await killMarkedProcesses(idempotencyKeyOf(input));
  const fingerprint = fingerprintOfUnknown({ turnId: input.turn.turnId, claim });
  const stored = await storeToolResult(database, {
    ...input,
    ...unknownOutcome(claim),
    entryId: newId(),
    attempt: claim.attempt,
    workerIdentity,
    outcome: 'outcome_unknown',
    fingerprint,
  });
  reachCrashPoint('runTool:outcome-unknown');
  if (stored.state === 'late') throw supersededAttempt();
  return { state: stateOf(stored.outcome), fingerprint };
}

function stateOf(outcome: ToolCallOutcome): RunToolResult['state'] {
  return outcome === 'not_run' ? 'failed' : outcome;
}
