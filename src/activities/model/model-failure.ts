import type { MediaLimits } from '../../context/plan/plan.ts';
import { costOf, estimatedUsage } from '../../models/catalogue/cost.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { NOTHING_LEARNED, windowToLearn, withLearnedLimits } from '../../models/errors/learned-window.ts';
import type { LearnedLimits } from '../../models/errors/learned-window.ts';
import { ModelCallError } from '../../models/model-client.ts';
import type { ErrorVerdict, ModelAnswer } from '../../models/model-client.ts';
import { EMPTY_ANSWER, recordFailedTry, stepOf } from '../../store/attempts/attempts.ts';
import type { AttemptEnd, Attempts, Beside } from '../../store/attempts/attempts.ts';
import { StoreError } from '../../store/database/errors.ts';
import { storeLearnedWindow } from '../../store/providers/model-facts.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import type { CallModelResult } from '../../turn/activity-values.ts';
import { MODEL_CALL_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import {
  isCancellationError,
  describeError,
  isOwnFault,
  retryableFailure,
  throughOutage,
} from '../runtime/failures.ts';
import { recordRefusal, waitForProvider } from '../runtime/model-permits.ts';
import type { ModelTry } from './call-model.ts';
import { prefersFallback } from './call-result.ts';

/** Empty answers of one call that are asked for again. More tries do not help with a silent model. */
const EMPTY_ANSWER_RETRIES = 2;

/** What a failed call means for the turn: an overflow to repair, a delay, a retry, or the end. */
export async function afterFailure(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  error: unknown,
  execution: Execution,
): Promise<CallModelResult> {
  const recorded = async (failure: FailureToRecord): Promise<Attempts> =>
    recordTry(dependencies, modelTry, execution, failure);
  if (isCancellationError(error)) {
    // The provider bills the input without reporting its size, so the estimate stands for it.
    const usage = estimatedUsage(modelTry.estimatedTokens);
    const cost = costOf(usage, modelTry.snapshot.prices);
    await recorded({ kind: 'aborted', evidence: 'aborted', usage, cost });
    throw error;
  }
  if (!(error instanceof ModelCallError)) throw error;
  const { verdict } = error;
  const status = error.status ?? null;
  switch (verdict.kind) {
    case 'overflow':
      await recorded({ kind: 'overflow', evidence: verdict.evidence, status });
      await learnLimits(dependencies, modelTry, verdict);
      return { kind: 'overflow' };
    case 'permanent':
      // The log gets the shape of an unknown error, the user the vendor's message.
      dependencies.logger.warn(
        {
          conversationId: modelTry.input.turn.conversationId,
          model: modelTry.snapshot.model,
          status,
          evidence: verdict.evidence,
        },
        'model call refused',
      );
      await recorded({
        kind: 'permanent',
        evidence: verdict.evidence,
        status,
        message: maskText(error.vendorMessage, dependencies.secrets),
      });
      // What is too large for its text is an overflow, and tools' media were left out.
      return verdict.cause === 'payload_too_large' ? { kind: 'failed', reason: 'media_too_large' } : { kind: 'failed' };
    case 'retryable':
      return askAgain(dependencies, modelTry, error, execution);
  }
}

/** Asks again. A rate limit passes by itself, so only failures of the model use up tries. */
async function askAgain(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  error: ModelCallError,
  execution: Execution,
): Promise<CallModelResult> {
  const { verdict } = error;
  const status = error.status ?? null;
  const { cause, evidence } = verdict;
  const { model } = modelTry.snapshot;
  // A provider that names a time recovers by itself, even from an outage.
  const isWait = cause === 'rate_limit' || verdict.delayMilliseconds !== undefined;
  if (!isWait) {
    const tries = await recordTry(dependencies, modelTry, execution, { kind: 'retryable', evidence, status });
    return failedOrAgain(cause, `model not available (${cause})`, tries);
  }
  const { turn } = modelTry.input;
  const wait = await recordRefusal(dependencies, { verdict, model }, (failure, beside) =>
    recordTry(dependencies, modelTry, execution, { ...failure, status }, beside),
  );
  if (await prefersFallback(dependencies, turn, { ...modelTry, ...wait })) return { kind: 'failed' };
  throw await waitForProvider(dependencies, turn, wait);
}

/** From now on, a smaller window counts. */
async function learnLimits(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  verdict: ErrorVerdict,
): Promise<void> {
  const { modelLimits, estimatedTokens } = modelTry;
  const tokens = windowToLearn(verdict, { known: modelLimits, estimatedInput: estimatedTokens });
  if (tokens !== undefined) await storeLearned(dependencies, modelTry, { tokens });
}

/** Later calls leave out images and files that a server refused, because it would refuse them again. */
export async function learnMediaLimits(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  { parts, bytes }: MediaLimits,
): Promise<void> {
  await storeLearned(dependencies, modelTry, { mediaParts: parts ?? null, mediaBytes: bytes ?? null });
}

async function storeLearned(
  { database, serverOf }: ActivityDependencies,
  { input, snapshot, modelLimits }: ModelTry,
  learned: Partial<LearnedLimits>,
): Promise<void> {
  await storeLearnedWindow(database, input.turn, {
    ...NOTHING_LEARNED,
    ...learned,
    model: snapshot.model,
    server: serverOf(parseModelName(snapshot.model).provider),
    limits: withLearnedLimits(modelLimits, learned),
  });
}

/** The provider dropped part of an input over the window without an error, so the answer is worth nothing. */
export async function silentOverflow(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  execution: Execution,
  { answer, evidence }: { readonly answer: ModelAnswer; readonly evidence: string },
): Promise<CallModelResult> {
  await recordTry(dependencies, modelTry, execution, { kind: 'overflow', evidence, ...paid(modelTry, answer) });
  return { kind: 'overflow' };
}

/**
 * An answer without text or tool call is asked for again, because no vendor accepts an empty assistant message back. Not after thinking
 * up to the maximum output, because the next try would think as long.
 */
export async function emptyAnswer(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  execution: Execution,
  answer: ModelAnswer,
): Promise<CallModelResult> {
  if (answer.stopReason === 'maximum_output' && answer.content.some(({ type }) => type === 'thinking')) {
    const evidence = 'thinking_filled_output';
    await recordTry(dependencies, modelTry, execution, { kind: 'permanent', evidence, ...paid(modelTry, answer) });
    return { kind: 'failed', reason: evidence };
  }
  const failure = { kind: 'retryable', evidence: EMPTY_ANSWER, ...paid(modelTry, answer) } as const;
  const tries = await recordTry(dependencies, modelTry, execution, failure);
  if (tries.emptyAnswers > EMPTY_ANSWER_RETRIES) return { kind: 'failed' };
  return failedOrAgain('empty_answer', 'the answer was empty', tries);
}

function paid({ snapshot }: ModelTry, { usage }: ModelAnswer): Pick<AttemptEnd, 'usage' | 'cost'> {
  return { usage: usage ?? null, cost: usage === undefined ? null : costOf(usage, snapshot.prices) };
}

/** How a try failed. Without usage and cost it was not billed. */
type FailureToRecord = NonNullable<AttemptEnd['failure']> & Partial<Pick<AttemptEnd, 'usage' | 'cost'>>;

/**
 * Waits for Postgres, even beyond the end of the activity. A try without a recorded failure would count as billed, like one whose worker
 * died.
 */
async function recordTry(
  dependencies: ActivityDependencies,
  { input, attempt, startedAt }: ModelTry,
  execution: Execution,
  { usage = null, cost = 0, ...failure }: FailureToRecord,
  beside?: Beside,
): Promise<Attempts> {
  const durationMilliseconds = Math.round(performance.now() - startedAt);
  const failed = { attempt, usage, cost, durationMilliseconds, failure };
  const record = () => recordFailedTry(dependencies.database, stepOf(input), failed, beside);
  return dependencies.outlastingWork.finish(execution, (lasting) => throughOutage(dependencies, lasting, record));
}

/**
 * After a failure that counts: the call has failed if its tries are used up.
 * @param code of the failure that Temporal gets, with `message` and the number of failures
 * @throws the failure after which Temporal retries the activity, in 1, 2, 4, 8, 16 … s
 */
function failedOrAgain(code: string, message: string, { failures }: Pick<Attempts, 'failures'>): CallModelResult {
  if (failures > MODEL_CALL_RETRIES) return { kind: 'failed' };
  const counted = `${message}, failure ${failures}`;
  throw retryableFailure(`ModelCall.${code}`, counted, retryDelayMilliseconds(failures));
}

/** The model was never asked, so nothing is billed. The call ends like any failure that retries do not repair. */
export async function afterUnsent(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  error: unknown,
  execution: Execution,
): Promise<CallModelResult> {
  dependencies.logger.warn({ ...identityOf(modelTry), ...describeError(error) }, 'model call not sent');
  const evidence = evidenceOf('not_sent', error);
  const tries = await recordTry(dependencies, modelTry, execution, { kind: 'retryable', evidence });
  return failedOrAgain('not_sent', 'model call not sent', tries);
}

/**
 * A paid answer could not be stored for another reason than an outage. It is counted, and bought again as often as a failed one. If the
 * head moved meanwhile, the context is checked first.
 */
export async function afterUnstored(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  { error, execution, usage, cost }: Pick<AttemptEnd, 'usage' | 'cost'> & { error: unknown; execution: Execution },
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

/** Too many tries ended without a report. Each may have been billed, so the model is not asked again. */
export async function endUnreportedCall(
  dependencies: ActivityDependencies,
  modelTry: ModelTry,
  execution: Execution,
): Promise<CallModelResult> {
  dependencies.logger.warn(identityOf(modelTry), 'model call given up: its tries end without a report');
  await recordTry(dependencies, modelTry, execution, { kind: 'permanent', evidence: 'tries_without_report' });
  return { kind: 'failed' };
}

/** Name and code of an error, never its message. */
function evidenceOf(what: string, error: unknown): string {
  const { name, code } = describeError(error);
  return code === undefined ? `${what} ${name}` : `${what} ${name} ${code}`;
}

function identityOf({ input, attempt, snapshot }: ModelTry) {
  const { turn, callNumber } = input;
  return { conversationId: turn.conversationId, callNumber, attempt, model: snapshot.model };
}
