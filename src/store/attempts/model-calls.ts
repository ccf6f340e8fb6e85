import type { ActivityAttempt } from './activity-attempts.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { ReportedUsage } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { readAnswer } from '../messages/answers.ts';
import type { StoredAnswer } from '../messages/answers.ts';
import { endAttempt, insertAttempt, readAttempts, replacedCall, stepOf } from './attempts.ts';
import type { Attempts, RegisteredAttempt } from './attempts.ts';
import type { Database, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { writeAsTurn } from '../database/transaction.ts';

export interface ModelCallRegistration {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly by: ActivityAttempt;
  readonly model: string;
  readonly headEntryId: string;
  readonly compactionId: string | null;
  /** Hash of the request's view, to prove later that a rebuilt view is the one the model saw. */
  readonly viewFingerprint: string;
  readonly rendererVersion: number;
  readonly estimatedTokens: number;
  /** What the request may hold, tokens; the event tells it beside the estimate. */
  readonly inputBudget?: number;
}

export type RegisteredModelCall =
  | ({ readonly kind: 'registered' } & RegisteredAttempt)
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  /** The head is another one than the request shows, or the turn has given the call's model up. */
  | { readonly kind: 'moved' };

/**
 * Registers a try of a model call before the model is asked. The number returned is the try's, counted
 * by the database over all activity attempts, runs and resets of the turn; only the newest may store
 * an answer. A call that is answered returns the answer instead.
 * @throws StoreError `stale_epoch`, `superseded_attempt` (a newer attempt of the activity has registered),
 *   `head_moved` (the request misses a compaction)
 */
export async function registerModelCall(
  sql: Database,
  registration: ModelCallRegistration,
): Promise<RegisteredModelCall> {
  const { turn, callNumber, headEntryId, by } = registration;
  const call = stepOf(registration);
  return writeAsTurn(sql, turn, async (writer): Promise<RegisteredModelCall> => {
    const { conversation, sql: open } = writer;
    const attempts = await readAttempts(open, call, by);
    const answer = attempts.answered === null ? null : await readAnswer(open, registration);
    if (answer !== null) return { kind: 'answered', answer };
    if (attempts.isReplaced) throw replacedCall(call, by);
    if (conversation.headEntryId !== headEntryId || attempts.givenUpAt >= callNumber) return { kind: 'moved' };
    if (conversation.compactionId !== registration.compactionId) {
      throw new StoreError(
        'head_moved',
        `call ${callNumber} of turn ${turn.turnId} misses compaction ${conversation.compactionId ?? 'none'}`,
      );
    }
    const attempt = attempts.newest + 1;
    const { model, inputBudget, viewFingerprint, rendererVersion } = registration;
    const estimatedTokens = Math.round(registration.estimatedTokens);
    const view = {
      headEntryId,
      compactions: conversation.compactions,
      fingerprint: viewFingerprint,
      rendererVersion,
    };
    await Promise.all([
      insertAttempt(open, call, attempt, { by, model, estimatedTokens, view }),
      writer.event('model_call_started', {
        callNumber,
        attempt,
        model,
        estimatedTokens,
        ...definedOf({ inputBudget }),
      }),
    ]);
    return { kind: 'registered', attempt, failures: attempts.failures, unreported: attempts.unreported };
  });
}

export interface ModelFailure {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly attempt: number;
  readonly kind: 'overflow' | 'retryable' | 'rate_limited' | 'unreachable' | 'permanent' | 'aborted' | 'refused';
  readonly evidence: string;
  readonly status: number | null;
  /** The vendor's own words, keys masked; kept for a call that was refused for good. */
  readonly message: string | null;
  /** Paid although no answer was kept. */
  readonly usage: ReportedUsage | null;
  readonly cost: number | null;
  readonly durationMilliseconds: number;
}

/**
 * Notes how a try failed and what it cost; returns the tries of this call. An older attempt of the same turn is noted too, since it was paid; a repeated note changes nothing.
 * @param beside what is written in the same transaction, told those tries
 */
export async function recordModelFailure(
  sql: Database,
  failure: ModelFailure,
  beside: (open: Transaction, tries: Attempts) => Promise<void> = () => Promise.resolve(),
): Promise<Attempts> {
  const { turn, callNumber, attempt, kind, evidence, status, message } = failure;
  return writeAsTurn(sql, turn, async (writer) => {
    const end = { ...failure, failure: { kind, evidence, status, message } };
    const call = stepOf(failure);
    if (await endAttempt(writer, call, end))
      await writer.event('model_call_failed', { callNumber, attempt, kind, status });
    const tries = await readAttempts(writer.sql, call);
    await beside(writer.sql, tries);
    return tries;
  });
}

export { readAnswer } from '../messages/answers.ts';
export type { StoredAnswer } from '../messages/answers.ts';
export { storeAnswer } from './store-answer.ts';
export type { AnswerToStore } from './store-answer.ts';
