import type { ContentPart, ToolCallPart } from '../context/content.ts';
import type { Measurements } from '../context/measurements.ts';
import type { ReportedUsage, StopReason } from '../models/model-client.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import { endColumns, readAnswer } from './answers.ts';
import type { StoredAnswer } from './answers.ts';
import type { Database, Transaction } from './database.ts';
import { insertEntry } from './entry-writer.ts';
import { StoreError } from './errors.ts';
import { newId } from './ids.ts';
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
    const standing = await standingOf(writer.sql, answer);
    switch (standing) {
      case 'stored':
        return readAnswer(writer.sql, answer);
      case 'superseded':
        return noteSuperseded(writer, answer);
      case 'newest':
        return appendAnswer(writer, answer);
    }
  });
  if (stored !== null) return stored;
  throw new StoreError(
    'superseded_attempt',
    `attempt ${answer.attempt} of call ${answer.callNumber} of turn ${answer.turn.turnId} was replaced by a newer one or given up`,
  );
}

/** Whether the attempt may still answer. */
async function standingOf(
  sql: Transaction,
  { turn, callNumber, attempt }: AnswerToStore,
): Promise<'stored' | 'superseded' | 'newest'> {
  const [row] = await sql<{ newest: number | null; answered: number | null; ended: boolean | null }[]>`
    select max(attempt) as newest, max(attempt) filter (where entry_id is not null) as answered,
      bool_or(state = 'failed') filter (where attempt = ${attempt}) as ended
    from model_calls where turn_id = ${turn.turnId} and call_number = ${callNumber}`;
  if (row?.answered === attempt) return 'stored';
  const newest = row?.newest ?? 0;
  // A try that has ended may have been followed by another call number: its turn has left it.
  if (newest > attempt || (row?.answered ?? null) !== null || row?.ended === true) return 'superseded';
  if (newest === attempt) return 'newest';
  throw new StoreError(
    'model_call_not_found',
    `attempt ${attempt} of call ${callNumber} of turn ${turn.turnId} was never registered`,
  );
}

/** Two tries were paid for one answer: the row and the sums show it. */
async function noteSuperseded(writer: TurnWriter, answer: AnswerToStore): Promise<null> {
  const { turn, callNumber, attempt } = answer;
  const { count } = await writer.sql`
    update model_calls set state = 'failed', failure_kind = 'superseded', failure_evidence = 'superseded',
      ${endColumns(writer.sql, answer)}
    where turn_id = ${turn.turnId} and call_number = ${callNumber} and attempt = ${attempt} and state = 'registered'`;
  if (count === 0) return null;
  await addUsage(writer.sql, turn, answer.usage, answer.cost);
  await writer.event('model_call_failed', { callNumber, attempt, kind: 'superseded', status: null });
  return null;
}

/**
 * Earlier tries whose worker never reported: the request was sent, so it is taken for paid, as much as the same request cost this
 * time. Too much rather than too little, since limits are checked against it. One that was given up at a shutdown is counted, by its
 * estimate: an older version left that to this.
 */
async function countLostTries({ sql }: TurnWriter, answer: AnswerToStore): Promise<void> {
  const { turn, callNumber, attempt, usage, cost } = answer;
  if (attempt === 1) return;
  const { count } = await sql`
    update model_calls set state = 'failed', failure_kind = 'lost', failure_evidence = 'worker_lost',
      input_tokens = ${usage?.input ?? null}, cache_read_tokens = ${usage?.cacheRead ?? null},
      cache_write_tokens = ${usage?.cacheWrite ?? null}, output_tokens = ${usage?.output ?? null}, cost = ${cost},
      epoch = ${turn.epoch}, ended_at = holdfast_now()
    where turn_id = ${turn.turnId} and call_number = ${callNumber} and attempt < ${attempt}
      and (state = 'registered' or (failure_kind = 'aborted' and input_tokens is null))`;
  await sql`
    update model_calls set failure_kind = 'lost', failure_evidence = 'worker_lost'
    where turn_id = ${turn.turnId} and call_number = ${callNumber} and attempt < ${attempt} and failure_kind = 'aborted'`;
  for (let lost = 0; lost < count; lost += 1) await addUsage(sql, turn, usage, cost);
}

/** The statements do not wait for one another's results: they travel to Postgres together. */
async function appendAnswer(writer: TurnWriter, answer: AnswerToStore): Promise<StoredAnswer> {
  const { sql, turn } = writer;
  const { callNumber, attempt, usage, stopReason, content, headEntryId } = answer;
  const calls = content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  const entryId = newId();
  await countLostTries(writer, answer);
  if (writer.conversation.head_entry_id !== headEntryId) {
    throw new StoreError(
      'head_moved',
      `conversation ${turn.conversationId}: the head is entry ${writer.conversation.head_entry_id ?? 'none'}, not ${headEntryId}`,
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
      update model_calls set state = 'answered', entry_id = ${entryId}, stop_reason = ${stopReason},
        response_id = ${answer.responseId === null ? null : plainText(answer.responseId)}, ${endColumns(sql, answer)}
      where turn_id = ${turn.turnId} and call_number = ${callNumber} and attempt = ${attempt}`,
    insertToolCalls(sql, answer, entryId, calls),
    writer.event('model_call_answered', {
      callNumber,
      attempt,
      entryId,
      stopReason,
      toolCalls: calls.length,
      inputTokens: usage?.input ?? null,
      cacheReadTokens: usage?.cacheRead ?? null,
      outputTokens: usage?.output ?? null,
      durationMilliseconds: Math.round(answer.durationMilliseconds),
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
