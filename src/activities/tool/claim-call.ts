import { isOutage } from '../../store/database/errors.ts';
import { claimToolCall, giveBackToolCall, reclaimToolCall } from '../../store/attempts/tool-calls.ts';
import type { Claimer, ToolCallReference, ToolClaim } from '../../store/attempts/tool-calls.ts';
import type { Execution } from '../runtime/activity-shell.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { throughOutage } from '../runtime/through-outage.ts';

/** A call, and the try of an activity that wants it. */
export type CallToClaim = ToolCallReference & Claimer;

/**
 * Milliseconds that a claim waits for Postgres. A failure would leave a claim whose reply was lost to whichever worker gets the next
 * attempt; but in a longer outage that may be a worker which Postgres answers.
 */
const CLAIM_PATIENCE_MILLISECONDS = 10_000;

/**
 * Claims the call for a tool that is to begin at once. A tool may end just when Temporal gives its attempt up: what that attempt still
 * stores in this process is waited for.
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
    // A stop must not read as a failure.
    const cause: unknown = execution.signal.aborted ? execution.signal.reason : error;
    if (!mayBeHeld || !isOutage(error)) throw cause;
    return giveBackCall(dependencies, call, execution, cause);
  }
}

/** Takes a call over from a worker of which nothing more was heard, to run it again. */
export async function reclaimCall(
  dependencies: ActivityDependencies,
  call: CallToClaim & { readonly previousAttempt: number },
  execution: Execution,
): Promise<{ readonly attempt: number }> {
  return throughOutage(dependencies, patienceOf(execution), () => reclaimToolCall(dependencies.database, call));
}

/**
 * Ends an attempt whose tool has not begun, so that the next one may run it, on any worker, or the end of the turn says that it did not
 * run. While Postgres is away that goes on without the attempt, and the next one in this process waits for it.
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
