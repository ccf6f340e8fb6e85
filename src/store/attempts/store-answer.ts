import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import type { ReportedUsage, StopReason } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { readAnswer } from '../messages/answers.ts';
import type { StoredAnswer } from '../messages/answers.ts';
import { endAttempt, endColumns, ofCall, payUnreported, standingOf, stepOf, supersededAttempt } from './attempts.ts';
import type { Database, Transaction } from '../database/database.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { StoreError } from '../database/errors.ts';
import { newId } from '../database/ids.ts';
import { jsonText, plainText } from '../log/stored-text.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { TurnWriter } from '../database/transaction.ts';
import { addUsage } from './usage.ts';

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
  const failure = { kind: 'superseded', evidence: 'superseded' };
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
