import type { ActivityAttempt } from './activity-attempts.ts';
import type { WindowFill } from '../../context/plan/plan.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { ReportedUsage, StopReason } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import {
  endAttempt,
  insertAttempt,
  readAttempts,
  replacedCall,
  stepOf,
  endColumns,
  ofCall,
  payUnreported,
  standingOf,
  supersededAttempt,
} from './attempts.ts';
import type { ModelCallReference, RegisteredAttempt } from './attempts.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { newId } from '../database/ids.ts';
import { jsonText, plainText } from '../log/stored-text.ts';
import type { TurnWriter } from '../database/transaction.ts';
import { addUsage, reportedUsage } from './usage.ts';

export interface StoredAnswer {
  readonly entryId: string;
  readonly attempt: number;
  readonly content: readonly ContentPart[];
  readonly stopReason: StopReason;
  readonly usage: ReportedUsage | null;
  readonly headEntryId: string;
  /** Dollars of the turn up to and with this call; `null` when a price is unknown. */
  readonly turnCost: number | null;
}

export async function readAnswer(sql: Queries, call: ModelCallReference): Promise<StoredAnswer | null> {
  const [row] = await sql<StoredAnswer[]>`
    select m.entry_id, m.attempt, e.content, m.stop_reason, ${reportedUsage(sql)} as usage,
      m.head_entry_id, case when u.calls_of_unknown_cost = 0 then u.cost::float8 end as "turnCost"
    from model_attempts m join entries e on e.conversation_id = m.conversation_id and e.id = m.entry_id
      join turn_usage u on u.turn_id = m.turn_id
    where m.conversation_id = ${call.turn.conversationId} and m.turn_id = ${call.turn.turnId} and m.call_number = ${call.callNumber}`;
  return row ?? null;
}

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
  /** The estimate by kind of content. */
  readonly fill?: WindowFill;
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
    const { model, inputBudget, viewFingerprint, rendererVersion, fill } = registration;
    const estimatedTokens = Math.round(registration.estimatedTokens);
    const view = {
      headEntryId,
      compactions: conversation.compactions,
      fingerprint: viewFingerprint,
      rendererVersion,
      ...definedOf({ fill }),
    };
    if (attempts.isNewestOpen) await writer.event('model_call_reclaimed', { callNumber, attempt });
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

export interface AnswerToStore {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly attempt: number;
  /** The entry that the request ended with; the answer becomes its child. */
  readonly headEntryId: string;
  readonly content: readonly ContentPart[];
  readonly measurements: Measurements;
  readonly usage: ReportedUsage | null;
  /** Dollars; `null` when the price is unknown. */
  readonly cost: number | null;
  readonly durationMilliseconds: number;
  readonly stopReason: StopReason;
  readonly responseId: string | null;
}

/**
 * Stores an answer in one transaction: the assistant entry with exactly that parent, a row per tool
 * call, usage and cost on call, turn and conversation. The same attempt again returns what is stored.
 * The cost of a superseded attempt is kept, its answer is not.
 * @throws StoreError `stale_epoch`, `superseded_attempt`, `head_moved`, `model_call_not_found`
 */
export async function storeAnswer(sql: Database, answer: AnswerToStore): Promise<StoredAnswer> {
  const call = stepOf(answer);
  const stored = await writeAsTurn(sql, answer.turn, async (writer) => {
    const standing = await standingOf(writer.sql, call, { attempt: answer.attempt });
    switch (standing) {
      case 'repeated':
        return readAnswer(writer.sql, answer);
      case 'superseded':
        return recordSuperseded(writer, answer);
      case 'newest':
        return appendAnswer(writer, answer);
    }
  });
  if (stored !== null) return stored;
  throw supersededAttempt(call, answer);
}

/** Two tries were paid for one answer: the row and the sums show it. */
async function recordSuperseded(writer: TurnWriter, answer: AnswerToStore): Promise<null> {
  const { callNumber, attempt } = answer;
  const failure = { kind: 'superseded', evidence: 'superseded' } as const;
  if (await endAttempt(writer, stepOf(answer), { ...answer, failure }))
    await writer.event('model_call_failed', { callNumber, attempt, kind: 'superseded', status: null });
  return null;
}

/** The statements do not wait for one another's results: they travel to Postgres together. */
async function appendAnswer(writer: TurnWriter, answer: AnswerToStore): Promise<StoredAnswer> {
  const { sql, turn } = writer;
  const { callNumber, attempt, usage, stopReason, content, headEntryId } = answer;
  const calls = content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  const entryId = newId();
  await payUnreported(writer, stepOf(answer), answer);
  if (writer.conversation.headEntryId !== headEntryId) {
    throw new StoreError(
      'head_moved',
      `conversation ${turn.conversationId}: the head is entry ${writer.conversation.headEntryId ?? 'none'}, not ${headEntryId}`,
    );
  }
  const [turnCost] = await Promise.all([
    addUsage(sql, turn, usage, answer.cost, { toolCalls: calls.length, entryId }),
    insertEntry(sql, {
      kind: 'assistant',
      id: entryId,
      turn,
      parentId: headEntryId,
      content,
      measurements: answer.measurements,
      callNumber,
      modelAttempt: attempt,
      toolCallCount: calls.length,
    }),
    sql`
      update model_attempts m set entry_id = ${entryId}, stop_reason = ${stopReason},
        response_id = ${answer.responseId === null ? null : plainText(answer.responseId)}, ${endColumns(sql, turn, answer)}
      where ${ofCall(sql, stepOf(answer))} and m.attempt = ${attempt}`,
    insertToolCalls(sql, answer, entryId, calls),
    writer.event('model_call_answered', {
      callNumber,
      attempt,
      entryId,
      inputTokens: usage?.input ?? null,
      cachedTokens: usage?.cacheRead ?? null,
      outputTokens: usage?.output ?? null,
      cost: answer.cost,
    }),
  ]);
  return { entryId, attempt, content, stopReason, usage, headEntryId, turnCost };
}

async function insertToolCalls(
  sql: Transaction,
  { turn, callNumber }: AnswerToStore,
  entryId: string,
  calls: readonly ToolCallPart[],
): Promise<void> {
  if (calls.length === 0) return;
  await sql`
    insert into tool_calls (turn_id, call_number, call_index, conversation_id, epoch, entry_id, provider_call_id, name, arguments)
    select ${turn.turnId}, ${callNumber}, call.index, ${turn.conversationId}, ${turn.epoch}, ${entryId},
      call.provider_call_id, call.name, call.arguments::json
    from unnest(${calls.map(({ index }) => index)}::int[], ${calls.map(({ id }) => plainText(id))}::text[],
      ${calls.map(({ name }) => plainText(name))}::text[], ${calls.map((call) => jsonText(call.arguments))}::text[])
      as call (index, provider_call_id, name, arguments)`;
}
