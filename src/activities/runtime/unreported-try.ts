import { isOutage, StoreError } from '../../store/database/errors.ts';
import { recordModelFailure } from '../../store/attempts/model-calls.ts';
import type { ModelFailure } from '../../store/attempts/model-calls.ts';
import { ModelCallError } from '../../models/model-client.ts';
import type { CallModelResult } from '../../turn/activity-values.ts';
import { MODEL_CALL_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import { describeError, isCancellationError, retryableFailure } from './activity-error.ts';
import type { Execution } from './activity-shell.ts';
import type { ModelTry } from '../model/call-model.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { throughOutage } from './through-outage.ts';

/**
 * Whether what a model client threw came before its request was sent: the worker lacks the provider, or fails to make the
 * request. What the provider, the network or the reading of an answer fails with is always a `ModelCallError`.
 */
export function wasNotSent(error: unknown): boolean {
  return !(error instanceof ModelCallError) && !isCancellationError(error);
}

/** Whether a worker fails with it at every try, whatever becomes of Postgres and of the turn. */
export function isOwnFault(error: unknown): boolean {
  return !(error instanceof StoreError) && !isOutage(error) && !isCancellationError(error);
}

/** The model was never asked: nothing is paid, and the call ends as after any failure that its retries do not mend. */
export async function afterUnsent(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  error: unknown,
  execution: Execution,
): Promise<CallModelResult> {
  const { name, code } = describeError(error);
  dependencies.logger.warn({ ...identityOf(modelTry), ...describeError(error) }, 'model call not sent');
  const evidence = code === undefined ? `not_sent ${name}` : `not_sent ${name} ${code}`;
  const failures = await dependencies.outlastingWork.finish(execution, (lasting) =>
    throughOutage(dependencies, lasting, () =>
      record(dependencies, modelTry, { kind: 'retryable', evidence, usage: null, cost: 0 }),
    ),
  );
  if (failures > MODEL_CALL_RETRIES) return { kind: 'failed' };
  const delay = retryDelayMilliseconds(failures);
  throw retryableFailure('ModelCall.not_sent', `model call not sent (${name}), failure ${failures}`, delay);
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
    await record(dependencies, modelTry, { kind: 'retryable', evidence: 'head_moved', usage, cost });
    return { kind: 'moved' };
  }
  if (!isOwnFault(error)) throw error;
  const { name, code } = describeError(error);
  dependencies.logger.warn({ ...identityOf(modelTry), ...describeError(error) }, 'answer not stored');
  const evidence = code === undefined ? `not_stored ${name}` : `not_stored ${name} ${code}`;
  const failures = await throughOutage(dependencies, execution, () =>
    record(dependencies, modelTry, { kind: 'retryable', evidence, usage, cost }),
  );
  if (failures > MODEL_CALL_RETRIES) return { kind: 'failed' };
  const delay = retryDelayMilliseconds(failures);
  throw retryableFailure('ModelCall.not_stored', `answer not stored (${name}), failure ${failures}`, delay);
}

/** Too many tries ended without a word, and each may have been paid: the model is not asked again. */
export async function endUnreportedCall(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  execution: Execution,
): Promise<CallModelResult> {
  dependencies.logger.warn(identityOf(modelTry), 'model call given up: its tries end without a report');
  const failure = { kind: 'permanent', evidence: 'tries_without_report', usage: null, cost: 0 } as const;
  await throughOutage(dependencies, execution, () => record(dependencies, modelTry, failure));
  return { kind: 'failed' };
}

function identityOf({ input, attempt, snapshot }: ModelTry) {
  const { turn, callNumber } = input;
  return { conversationId: turn.conversationId, callNumber, attempt, model: snapshot.model };
}

async function record(
  { database, reachCrashPoint }: ActivityDependencies,
  { input, attempt, startedAt }: ModelTry,
  failure: Pick<ModelFailure, 'kind' | 'evidence' | 'usage' | 'cost'>,
): Promise<number> {
  const durationMilliseconds = Math.round(performance.now() - startedAt);
  const { failures } = await recordModelFailure(database, {
    ...input,
    ...failure,
    attempt,
    status: null,
    message: null,
    durationMilliseconds,
  });
  reachCrashPoint('callModel:failed');
  return failures;
}
