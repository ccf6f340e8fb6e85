import type { Transaction } from '../../store/database/database.ts';
import type { Attempts } from '../../store/attempts/attempts.ts';
import { recordModelFailure } from '../../store/attempts/model-calls.ts';
import type { ModelFailure } from '../../store/attempts/model-calls.ts';
import { StoreError } from '../../store/database/errors.ts';
import type { CallModelResult } from '../../turn/activity-values.ts';
import { MODEL_CALL_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import { describeError, isOwnFault, retryableFailure } from '../runtime/activity-error.ts';
import type { Execution } from '../runtime/activity-shell.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { throughOutage } from '../runtime/through-outage.ts';
import type { ModelTry } from './call-model.ts';

/** How a try failed; without usage and cost it was unpaid. */
export type FailureToRecord = Pick<ModelFailure, 'kind' | 'evidence'> &
  Partial<Pick<ModelFailure, 'status' | 'usage' | 'cost' | 'message'>>;

/** Written in the transaction that records the failure. */
export type Beside = (open: Transaction, tries: Attempts) => Promise<void>;

/** Waits for Postgres: a try that stays without its failure is taken for paid, as one whose worker died. */
export async function recordTry(
  dependencies: ActivityDependencies,
  { input, attempt, startedAt }: ModelTry,
  execution: Pick<Execution, 'signal'>,
  failure: FailureToRecord,
  beside?: Beside,
): Promise<Attempts> {
  const { turn, callNumber } = input;
  const durationMilliseconds = Math.round(performance.now() - startedAt);
  const ended = { turn, callNumber, attempt, status: null, message: null, usage: null, cost: 0, durationMilliseconds };
  const tries = await throughOutage(dependencies, execution, () =>
    recordModelFailure(dependencies.database, { ...ended, ...failure }, beside),
  );
  dependencies.reachCrashPoint('callModel:failed');
  return tries;
}

/** The same also when the activity ends before Postgres is back. */
export async function recordLastingTry(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  execution: Execution,
  failure: FailureToRecord,
  beside?: Beside,
): Promise<Attempts> {
  return dependencies.outlastingWork.finish(execution, (lasting) =>
    recordTry(dependencies, modelTry, lasting, failure, beside),
  );
}

/**
 * After a failure that counts: the call has failed once its tries are used up.
 * @param code of the failure that Temporal is told, with `message` and the number of failures
 * @throws the failure after which Temporal calls the activity again, in 1, 2, 4, 8, 16 … s
 */
export function failedOrAgain(
  code: string,
  message: string,
  { failures }: Pick<Attempts, 'failures'>,
): CallModelResult {
  if (failures > MODEL_CALL_RETRIES) return { kind: 'failed' };
  const counted = `${message}, failure ${failures}`;
  throw retryableFailure(`ModelCall.${code}`, counted, retryDelayMilliseconds(failures));
}

/** The model was never asked: nothing is paid, and the call ends as after any failure that its retries do not mend. */
export async function afterUnsent(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  error: unknown,
  execution: Execution,
): Promise<CallModelResult> {
  dependencies.logger.warn({ ...identityOf(modelTry), ...describeError(error) }, 'model call not sent');
  const evidence = evidenceOf('not_sent', error);
  const tries = await recordLastingTry(dependencies, modelTry, execution, { kind: 'retryable', evidence });
  return failedOrAgain('not_sent', 'model call not sent', tries);
}

/**
 * A paid answer that cannot be stored for another reason than an outage: it is counted, and bought again as often as a failed one.
 * With a head that moved meanwhile the context is checked first.
 */
export async function afterUnstored(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  { error, execution, usage, cost }: Pick<ModelFailure, 'usage' | 'cost'> & { error: unknown; execution: Execution },
): Promise<CallModelResult> {
  if (error instanceof StoreError && error.code === 'head_moved') {
    const failure = { kind: 'retryable', evidence: 'head_moved', usage, cost } as const;
    await recordTry(dependencies, modelTry, execution, failure);
    return { kind: 'moved' };
  }
  if (!isOwnFault(error)) throw error;
  dependencies.logger.warn({ ...identityOf(modelTry), ...describeError(error) }, 'answer not stored');
  const failure = { kind: 'retryable', evidence: evidenceOf('not_stored', error), usage, cost } as const;
  return failedOrAgain('not_stored', 'answer not stored', await recordTry(dependencies, modelTry, execution, failure));
}

/** Too many tries ended without a word, and each may have been paid: the model is not asked again. */
export async function endUnreportedCall(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  execution: Execution,
): Promise<CallModelResult> {
  dependencies.logger.warn(identityOf(modelTry), 'model call given up: its tries end without a report');
  await recordTry(dependencies, modelTry, execution, { kind: 'permanent', evidence: 'tries_without_report' });
  return { kind: 'failed' };
}

/** Name and code of an error; never its message. */
function evidenceOf(what: string, error: unknown): string {
  const { name, code } = describeError(error);
  return code === undefined ? `${what} ${name}` : `${what} ${name} ${code}`;
}

function identityOf({ input, attempt, snapshot }: ModelTry) {
  const { turn, callNumber } = input;
  return { conversationId: turn.conversationId, callNumber, attempt, model: snapshot.model };
}
