import type { ActivityAttempt } from './activity-attempts.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { ReportedUsage } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { readAnswer } from '../messages/answers.ts';
import type { ModelCallReference, StoredAnswer } from '../messages/answers.ts';
import { endAttempt, insertAttempt, readAttempts, replacedCall, stepOf } from './attempts.ts';
import type { RegisteredAttempt } from './attempts.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { writeAsTurn } from '../database/transaction.ts';

export interface ModelCallRegistration {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly by: ActivityAttempt;
  /** `provider/model`. */
  readonly model: string;
  /** Newest entry that the request shows. */
  readonly headEntryId: string;
  /** Newest compaction that the request takes into account. */
  readonly compactionId: string | null;
  /** Hash of the request's view, to prove later that a rebuilt view is the one the model saw. */
  readonly viewFingerprint: string;
  readonly rendererVersion: number;
  /** Tokens of the whole request by the calibrated estimate. */
  readonly estimatedTokens: number;
  /** What the request may hold, tokens; the event tells it beside the estimate. */
  readonly inputBudget?: number;
}

export type RegisteredModelCall =
  | ({ readonly kind: 'registered' } & RegisteredAttempt)
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  /** The head is another one than the request shows, or the turn has left this call for another number. */
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
    if (conversation.head_entry_id !== headEntryId || attempts.leftCall >= callNumber) return { kind: 'moved' };
    if (conversation.compaction_id !== registration.compactionId) {
      throw new StoreError(
        'head_moved',
        `call ${callNumber} of turn ${turn.turnId} misses compaction ${conversation.compaction_id ?? 'none'}`,
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

/** Evidence of an answer with neither text nor a tool call. */
export const EMPTY_ANSWER = 'empty_answer';

/** What decides about the next try. */
export interface FailedTries {
  /** Of this call number, by the model: `retryable` and `permanent`. */
  readonly failures: number;
  /** Of them, answers that were empty. */
  readonly emptyAnswers: number;
  /**
   * Since the model's last answer in this turn: a call that was waited for in the workflow comes back under another number.
   * These pass by themselves and use up no try.
   */
  readonly rateLimits: number;
}

async function countFailures(
  sql: Queries,
  { turn, callNumber, attempt }: ModelCallReference & { readonly attempt: number },
): Promise<FailedTries> {
  const [row] = await sql<FailedTries[]>`
    select
      (count(*) filter (where m.call_number = this.call_number and m.failure_kind in ('retryable', 'permanent')))::int as failures,
      (count(*) filter (where m.call_number = this.call_number and m.failure_evidence = ${EMPTY_ANSWER}))::int as "emptyAnswers",
      (count(*) filter (where m.failure_kind = 'rate_limited' and m.model = this.model))::int as "rateLimits"
    from model_attempts this join model_attempts m
      on m.conversation_id = this.conversation_id and m.turn_id = this.turn_id and m.purpose = 'step'
    where this.conversation_id = ${turn.conversationId} and this.turn_id = ${turn.turnId} and this.call_number = ${callNumber} and this.attempt = ${attempt}
      and this.purpose = 'step' and m.call_number > (
        select coalesce(max(call_number), 0) from model_attempts
        where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and entry_id is not null and call_number < ${callNumber})`;
  return row ?? { failures: 0, emptyAnswers: 0, rateLimits: 0 };
}

export interface ModelFailure {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly attempt: number;
  readonly kind: 'overflow' | 'retryable' | 'rate_limited' | 'permanent' | 'aborted' | 'refused';
  /** Code of the classifier's evidence; never the vendor's words. */
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
 * Notes how a try failed and what it cost; returns the failed tries of this call number. An older attempt of the same turn is noted too, since it was paid; a repeated note changes nothing.
 * @param beside what is written in the same transaction, told those tries
 * @throws StoreError `stale_epoch`
 */
export async function recordModelFailure(
  sql: Database,
  failure: ModelFailure,
  beside: (open: Transaction, tries: FailedTries) => Promise<void> = () => Promise.resolve(),
): Promise<FailedTries> {
  const { turn, callNumber, attempt, kind, evidence, status, message } = failure;
  return writeAsTurn(sql, turn, async (writer) => {
    const end = { ...failure, failure: { kind, evidence, status, message } };
    if (await endAttempt(writer, stepOf(failure), end))
      await writer.event('model_call_failed', { callNumber, attempt, kind, status });
    const tries = await countFailures(writer.sql, failure);
    await beside(writer.sql, tries);
    return tries;
  });
}

export { readAnswer } from '../messages/answers.ts';
export type { StoredAnswer } from '../messages/answers.ts';
export { storeAnswer } from './store-answer.ts';
export type { AnswerToStore } from './store-answer.ts';
export { listModelCalls } from './model-call-rows.ts';
