import { createHash } from 'node:crypto';
import type { ContentPart } from '../../context/log/content.ts';
import { measureContent } from '../../context/log/measure.ts';
import { claimToolCall, giveBackToolCall, reclaimToolCall, storeToolResult } from '../../store/attempts/tool-calls.ts';
import type {
  Claimer,
  ToolCallReference,
  ToolClaim,
  StoredToolResult,
  ToolResultToStore,
  RequestedToolCall,
} from '../../store/attempts/tool-calls.ts';
import { isOutage } from '../../store/database/errors.ts';
import { newId } from '../../store/database/ids.ts';
import { writePieces } from '../../store/log/content-pieces.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../tools/runtime/names.ts';
import type { ToolCallOutcome as ToolCallEnd } from '../../tools/runtime/run-tool-call.ts';
import type { RunToolInput } from '../../turn/activity-values.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { describeError } from '../runtime/failures.ts';
import { newText } from '../runtime/new-content.ts';
import { throughOutage } from '../runtime/outlasting-work.ts';

/** A call, and the attempt that wants it. */
type CallToClaim = ToolCallReference & Claimer;

/**
 * Milliseconds that a claim waits for Postgres. A failure would leave a claim whose reply was lost to the worker of the next attempt. In
 * a longer outage that may be a worker that reaches Postgres.
 */
const CLAIM_PATIENCE_MILLISECONDS = 10_000;

/**
 * Claims the call for a tool that begins at once. A tool may end just when Temporal gives its attempt up, so this waits for what that
 * attempt still stores in this process.
 */
export async function claimCall(
  dependencies: ActivityDependencies,
  call: CallToClaim,
  execution: Execution,
): Promise<ToolClaim> {
  let claim = await claimPatiently(dependencies, call, execution);
  if (claim.state === 'claimed_before' && (await dependencies.outlastingWork.settled(execution))) {
    claim = await claimPatiently(dependencies, call, execution);
  }
  return claim;
}

async function claimPatiently(
  dependencies: ActivityDependencies,
  call: CallToClaim,
  execution: Execution,
): Promise<ToolClaim> {
  let mayBeHeld = false;
  try {
    return await throughOutage(dependencies, patienceOf(execution), () =>
      claimToolCall(dependencies.database, call, () => {
        mayBeHeld = true;
      }),
    );
  } catch (error) {
    // A stop must not look like a failure.
    const cause: unknown = execution.signal.aborted ? execution.signal.reason : error;
    if (!mayBeHeld || !isOutage(error)) throw cause;
    return giveBackCall(dependencies, call, execution, cause);
  }
}

/** Takes a call over from a silent worker, to run it again. */
export async function reclaimCall(
  dependencies: ActivityDependencies,
  call: CallToClaim & { readonly previousAttempt: number },
  execution: Execution,
): Promise<{ readonly attempt: number }> {
  return throughOutage(dependencies, patienceOf(execution), () => reclaimToolCall(dependencies.database, call));
}

/**
 * Ends an attempt whose tool has not begun. The next attempt may run it on any worker, or the end of the turn says that it did not run.
 * Without Postgres this goes on without the attempt, and the next attempt in this process waits for it.
 * @throws `cause`
 */
export async function giveBackCall(
  { database, logger, outlastingWork, reachCrashPoint }: ActivityDependencies,
  call: CallToClaim,
  execution: Execution,
  cause: unknown,
): Promise<never> {
  await outlastingWork.finish({ ...execution, signal: AbortSignal.abort(cause) }, async (lasting) => {
    const isBack = await throughOutage({ logger }, lasting, () => giveBackToolCall(database, call));
    if (isBack) reachCrashPoint('runTool:given-back');
  });
  throw cause;
}

function patienceOf({ signal }: Execution): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.any([signal, AbortSignal.timeout(CLAIM_PATIENCE_MILLISECONDS)]) };
}

/** Stores the result of a tool, its original first. */
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
 * Does not wait for a tool that ignores its abort, but stores its later result beside the log. Nothing else would ever report the outcome
 * of a call that was called unknown.
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

/** A call of a turn, as the model made it. */
interface FingerprintedCall {
  readonly turnId: string;
  readonly claim: Pick<RequestedToolCall, 'name' | 'arguments'>;
}

/** Whether the tool only returns what the conversation holds. */
export function isRecall(tool: string): boolean {
  return tool === RECALL_SEARCH || tool === RECALL_OPEN;
}

/** The known part of a call's result. */
interface FingerprintedResult {
  readonly content: readonly ContentPart[];
  /** Compared instead of `content`. */
  readonly comparedBy?: string | undefined;
}

/**
 * Distinguishes a call with its result from others of the turn. Recall finds more with everything that is stored, so only its question
 * counts.
 */
export function fingerprintOf(call: FingerprintedCall & FingerprintedResult): string {
  const { claim, content, comparedBy } = call;
  if (isRecall(claim.name)) return digest(call, '');
  return digest(call, comparedBy ?? JSON.stringify(content));
}

/** The same for every call with an unknown outcome: times and partial progress in its result differ each time and are no progress. */
export function fingerprintOfUnknown(call: FingerprintedCall): string {
  return digest(call, 'outcome_unknown');
}

/** Eight hexadecimal digits: enough to distinguish the calls of a turn, too few to reveal their content; salted with the turn's id. */
function digest({ turnId, claim }: FingerprintedCall, result: string): string {
  const parts = JSON.stringify([turnId, claim.name, claim.arguments, result]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 8);
}
