import type { ContentPart } from '../context/content.ts';
import type { Measurements } from '../context/measurements.ts';
import type { ReportedUsage, StopReason } from '../models/model-client.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import { endColumns, readAnswer } from './answers.ts';
import type { StoredAnswer } from './answers.ts';
import type { Database, Transaction } from './database.ts';
import { insertEntry } from './entry-writer.ts';
import { StoreError } from './errors.ts';
import { jsonText, plainText } from './stored-text.ts';
import { writeAsTurn } from './transaction.ts';
import type { TurnWriter } from './transaction.ts';
import { addUsage } from './usage.ts';

export interface AnswerToStore {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** The number that `registerModelCall` returned. */
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
  const stored = await writeAsTurn(sql, answer.turn, async (writer) => {
    const known = await readAnswer(writer.sql, answer);
    if (known?.attempt === answer.attempt) return known;
    if (known !== null || !(await isNewest(writer.sql, answer))) {
      await noteSuperseded(writer, answer);
      return null;
    }
    await appendAnswer(writer, answer);
    return readAnswer(writer.sql, answer);
  });
  if (stored !== null) return stored;
  throw new StoreError(
    'superseded_attempt',
    `attempt ${answer.attempt} of call ${answer.callNumber} of turn ${answer.turn.turnId} was replaced by a newer one`,
  );
}

async function isNewest(sql: Transaction, { turn, callNumber, attempt }: AnswerToStore): Promise<boolean> {
  const [row] = await sql<{ newest: number | null }[]>`
    select max(attempt) as newest from model_calls where turn_id = ${turn.turnId} and call_number = ${callNumber}`;
  if (row?.newest === attempt) return true;
  if (row?.newest !== null && row !== undefined && row.newest > attempt) return false;
  throw new StoreError(
    'model_call_not_found',
    `attempt ${attempt} of call ${callNumber} of turn ${turn.turnId} was never registered`,
  );
}

/** Two tries were paid for one answer: the row and the sums show it. */
async function noteSuperseded(writer: TurnWriter, answer: AnswerToStore): Promise<void> {
  const { turn, callNumber, attempt } = answer;
  const { count } = await writer.sql`
    update model_calls set state = 'failed', failure_kind = 'superseded', failure_evidence = 'superseded',
      ${endColumns(writer.sql, answer)}
    where turn_id = ${turn.turnId} and call_number = ${callNumber} and attempt = ${attempt} and state = 'registered'`;
  if (count === 0) return;
  await addUsage(writer.sql, turn, answer.usage, answer.cost);
  await writer.event('model_call_failed', { callNumber, attempt, kind: 'superseded', status: null });
}

async function appendAnswer(writer: TurnWriter, answer: AnswerToStore): Promise<void> {
  const { sql } = writer;
  const { turn, callNumber, attempt, usage, stopReason } = answer;
  const calls = answer.content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  const entry = await insertEntry(sql, {
    kind: 'assistant',
    turn,
    parentId: answer.headEntryId,
    content: answer.content,
    measurements: answer.measurements,
    callNumber,
    modelAttempt: attempt,
    toolCallCount: calls.length,
  });
  await sql`
    update model_calls set state = 'answered', entry_id = ${entry.id}, stop_reason = ${stopReason},
      response_id = ${answer.responseId === null ? null : plainText(answer.responseId)}, ${endColumns(sql, answer)}
    where turn_id = ${turn.turnId} and call_number = ${callNumber} and attempt = ${attempt}`;
  if (calls.length > 0) {
    await sql`
      insert into tool_calls (turn_id, call_number, call_index, conversation_id, epoch, entry_id, provider_call_id, name, arguments)
      select ${turn.turnId}, ${callNumber}, call.index, ${turn.conversationId}, ${turn.epoch}, ${entry.id},
        call.provider_call_id, call.name, call.arguments::json
      from unnest(${calls.map(({ index }) => index)}::int[], ${calls.map(({ id }) => plainText(id))}::text[],
        ${calls.map(({ name }) => plainText(name))}::text[], ${calls.map((call) => jsonText(call.arguments))}::text[])
        as call (index, provider_call_id, name, arguments)`;
  }
  await addUsage(sql, turn, usage, answer.cost);
  if (usage !== null) {
    await sql`update conversations set usage_entry_id = ${entry.id} where id = ${turn.conversationId}`;
  }
  await writer.event('model_call_answered', {
    callNumber,
    attempt,
    entryId: entry.id,
    stopReason,
    toolCalls: calls.length,
    inputTokens: usage?.input ?? null,
    cacheReadTokens: usage?.cacheRead ?? null,
    outputTokens: usage?.output ?? null,
    durationMilliseconds: Math.round(answer.durationMilliseconds),
  });
}
