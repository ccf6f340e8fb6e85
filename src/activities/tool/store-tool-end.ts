import { measureContent } from '../../context/log/measure.ts';
import { writePieces } from '../../store/log/content-pieces.ts';
import { newId } from '../../store/database/ids.ts';
import { storeToolResult } from '../../store/attempts/tool-calls.ts';
import type { StoredToolResult, ToolClaim, ToolResultToStore } from '../../store/attempts/tool-calls.ts';
import type { ToolCallOutcome as ToolCallEnd } from '../../tools/runtime/run-tool-call.ts';
import type { RunToolInput } from '../../turn/activity-values.ts';
import { describeError } from '../runtime/activity-error.ts';
import type { Execution } from '../runtime/activity-shell.ts';
import { fingerprintOf } from './call-fingerprint.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { newText } from '../runtime/new-content.ts';
import { throughOutage } from '../runtime/through-outage.ts';

/** Stores what a run of a tool came to, its original first. */
export async function storeToolEnd(
  { database, workerIdentity, reachCrashPoint }: ActivityDependencies,
  input: RunToolInput,
  {
    end,
    ...result
  }: Pick<ToolResultToStore, 'entryId' | 'attempt' | 'fingerprint' | 'afterItsEnd'> & {
    readonly end: Omit<ToolCallEnd, 'later'>;
  },
): Promise<StoredToolResult> {
  const original =
    end.original === null ? undefined : await writePieces(database, input.turn.conversationId, end.original.pieces());
  if (original !== undefined) reachCrashPoint('runTool:pieces-written');
  const stored = await storeToolResult(database, {
    ...input,
    ...result,
    workerIdentity,
    outcome: outcomeOf(end),
    content: end.content,
    measurements: measureContent(end.content),
    ...(original !== undefined && {
      original: { ...original, missingBytes: original.missingBytes + (end.original?.missingBytes ?? 0) },
    }),
    ...(end.plan !== undefined && { plan: newText(end.plan) }),
    ...(end.pin !== undefined && { pin: end.pin }),
  });
  reachCrashPoint('runTool:stored');
  return stored;
}

function outcomeOf({ ending, isError }: Omit<ToolCallEnd, 'later'>): ToolResultToStore['outcome'] {
  if (ending === 'outcome_unknown') return ending;
  return isError ? 'failed' : 'succeeded';
}

/**
 * A tool that ignores its end is not waited for. What it comes to after all is stored: of a call that was told as one of unknown
 * outcome nothing else ever tells, and a late result is kept beside the log.
 */
export async function keepLater(
  dependencies: ActivityDependencies,
  input: RunToolInput,
  of: {
    readonly later: NonNullable<ToolCallEnd['later']>;
    readonly claim: Exclude<ToolClaim, { state: 'finished' }>;
    readonly execution: Execution;
  },
): Promise<void> {
  const { claim, execution } = of;
  try {
    const end = await of.later;
    if (end === null) return;
    const entryId = newId();
    const fingerprint = fingerprintOf({ ...end, turnId: input.turn.turnId, claim });
    await dependencies.outlastingWork.finish(execution, async (lasting) => {
      try {
        const result = { end, entryId, attempt: claim.attempt, fingerprint, afterItsEnd: true };
        await throughOutage(dependencies, lasting, () => storeToolEnd(dependencies, input, result));
      } finally {
        await end.dispose();
      }
    });
  } catch (error) {
    if (execution.signal.aborted && error === execution.signal.reason) return;
    dependencies.logger.warn(describeError(error), 'what a tool came to after the end of its call is lost');
  }
}
