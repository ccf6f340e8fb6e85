import { DEFAULT_FRAMING } from '../../src/context/summary/summary-message.ts';
import type { Database, Transaction } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { transaction } from '../../src/store/database/transaction.ts';
import { writeMemory } from '../../src/store/memory/memories.ts';
import { BLOCK_ENTRIES } from '../../src/store/log/packed-outlines.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { CLONED_TABLES } from './clone-conversations.ts';

/** Steps that a filled conversation's view shows word for word. */
const KEPT_STEPS = 3;
/** Of so many steps one had to be approved. */
const STEPS_PER_DECISION = 10;

const SUMMARY = 'The user asked for pauses. They were made one after another, as asked; nothing is open.';
const MEMORY = 'The user likes pauses.';

export interface FillRequest {
  /** A conversation whose first turn made two steps with one tool call each: the steps are copies of its second. */
  readonly template: string;
  /** At least 4. */
  readonly steps: number;
}

interface Filling extends FillRequest {
  readonly conversationId: string;
  readonly turnId: string;
  readonly compactionId: string;
}

/**
 * A conversation with one finished turn of so many steps and a compaction that leaves the user's message, the last three steps and a
 * summary, written as the server would have left it: triggers and foreign keys are off in this transaction, because a
 * thousand real steps would take minutes. What is measured afterwards goes through all of them. It has rows in each table that a step
 * may look at, so that its copies make all of them big.
 */
export async function fillConversation(
  sql: Database,
  request: FillRequest,
): Promise<{ readonly conversationId: string; readonly turn: TurnReference }> {
  const filling = { ...request, conversationId: newId(), turnId: newId(), compactionId: newId() };
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await insertOwners(open, filling);
    await insertMessage(open, filling);
    await insertSteps(open, filling);
    await insertDecisions(open, filling);
    await insertEvents(open, filling);
    await insertCompaction(open, filling);
    await insertPartsOfCompaction(open, filling);
    await moveHead(open, filling);
  });
  const { conversationId, turnId } = filling;
  await sql`
    select pack_outlines(${conversationId}, block)
    from generate_series(0, ${Math.floor(lastSequence(filling) / BLOCK_ENTRIES) - 1}::int) as block`;
  await remember(sql, conversationId);
  // As autovacuum would in time: else the first queries are planned for empty tables.
  await sql`analyze ${sql(CLONED_TABLES)}`;
  return { conversationId, turn: { conversationId, turnId, epoch: 1 } };
}

/** A conversation and its one turn, as its template has them. */
export async function insertOwners(
  sql: Transaction,
  { template, conversationId, turnId }: Pick<Filling, 'template' | 'conversationId' | 'turnId'>,
): Promise<void> {
  await sql`
    insert into conversations (id, tenant, task_queue, agent, epoch)
    select ${conversationId}, tenant, task_queue, agent, 1 from conversations where id = ${template}`;
  await sql`
    insert into branches (conversation_id, branch, ancestor, through_sequence) values (${conversationId}, 0, 0, 2147483647)`;
  await sql`
    insert into turns (id, conversation_id, epoch, workflow_id, begun_by_run_id, run_id, worker_identity, agent, model,
      preset, snapshot_hash, limits, messages, ended_at, outcome)
    select ${turnId}, ${conversationId}, 1, 'filled:' || ${turnId}::text, ${turnId}::text, ${turnId}::text, worker_identity,
      agent, model, preset, snapshot_hash, limits, 1, ended_at, outcome
    from turns where conversation_id = ${template}`;
}

function lastSequence({ steps }: FillRequest): number {
  return 2 * steps + 3;
}

function messageId({ conversationId }: Filling): string {
  return `filled:${conversationId}`;
}

async function insertMessage(sql: Transaction, filling: Filling): Promise<void> {
  const { template, conversationId, turnId } = filling;
  await sql`
    insert into messages (id, conversation_id, kind, mode, content, measurements, turn_id, consumed_at)
    select ${messageId(filling)}, ${conversationId}, kind, mode, content, measurements, ${turnId}, consumed_at
    from messages where conversation_id = ${template} order by position limit 1`;
}

/** Entries: 1 the user's, 2n and 2n + 1 answer and result of step n, then the last answer and the marker. */
async function insertSteps(sql: Transaction, filling: Filling): Promise<void> {
  const { template, conversationId, turnId, steps, compactionId } = filling;
  const entryId = (sequence: ReturnType<Transaction>) => sql`md5(${conversationId}::text || (${sequence})::text)::uuid`;
  await sql`
    insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, call_number, model_attempt,
      call_index, tool_call_count, tool_name, is_error, message_id, compaction_id, content, measurements, sums)
    select ${entryId(sql`n.sequence`)}, ${conversationId}, n.sequence, 0,
      case when n.sequence > 1 then ${entryId(sql`n.sequence - 1`)} end, t.kind, ${turnId}, 1,
      case when t.call_number is not null then n.sequence / 2 end, t.model_attempt, t.call_index, t.tool_call_count,
      t.tool_name, t.is_error, case when n.sequence = 1 then ${messageId(filling)} end,
      case when t.kind = 'compaction' then ${compactionId}::uuid end,
      -- Each call has an id of its own, as the model gives it.
      replace(t.content::text, c.provider_call_id, 'call_' || n.sequence / 2)::json, t.measurements,
      sum(t.measurements) over (order by n.sequence)
    from generate_series(1, ${lastSequence(filling)}::int) as n (sequence)
    join tool_calls c on c.conversation_id = ${template} and c.call_number = 2
    join lateral (
      select kind, call_number, model_attempt, call_index, tool_call_count, tool_name, is_error, content, measurements
      from entries
      where conversation_id = ${template} and sequence = case
        when n.sequence = 1 then 1
        when n.sequence = ${2 * steps + 2}::int then 6
        else 4 + n.sequence % 2 end
        and n.sequence < ${lastSequence(filling)}::int
      union all
      select 'compaction', null, null, null, null, null, null, '[]'::json, no_measurements()
      where n.sequence = ${lastSequence(filling)}::int) as t on true`;
  await sql`
    insert into model_attempts (turn_id, purpose, call_number, attempt, conversation_id, epoch, model, head_entry_id, compactions,
      view_fingerprint, renderer_version, estimated_tokens, state, entry_id, stop_reason, input_tokens,
      cache_read_tokens, cache_write_tokens, output_tokens, cost, duration_milliseconds, ended_at)
    select ${turnId}, 'step', n.step, 1, ${conversationId}, 1, m.model, ${entryId(sql`2 * n.step - 1`)}, 0, m.view_fingerprint,
      m.renderer_version, m.estimated_tokens, m.state, ${entryId(sql`2 * n.step`)}, m.stop_reason,
      m.input_tokens, m.cache_read_tokens, m.cache_write_tokens, m.output_tokens, m.cost, m.duration_milliseconds, m.ended_at
    from generate_series(1, ${steps + 1}::int) as n (step)
    join model_attempts m on m.conversation_id = ${template} and m.call_number = 2 and m.entry_id is not null`;
  await sql`
    insert into tool_calls (turn_id, call_number, call_index, conversation_id, epoch, entry_id, provider_call_id, name,
      arguments, state, attempt, worker_identity, claimed_at, finished_at, outcome, result_entry_id)
    select ${turnId}, n.step, 0, ${conversationId}, 1, ${entryId(sql`2 * n.step`)}, 'call_' || n.step, c.name, c.arguments,
      c.state, c.attempt, c.worker_identity, c.claimed_at, c.finished_at, c.outcome, ${entryId(sql`2 * n.step + 1`)}
    from generate_series(1, ${steps}::int) as n (step)
    join tool_calls c on c.conversation_id = ${template} and c.call_number = 2`;
}

async function insertDecisions(sql: Transaction, { conversationId }: Filling): Promise<void> {
  await sql`
    insert into decisions (turn_id, call_number, call_index, conversation_id, epoch, kind, agent, tool, rules, state, scope,
      expires_at, decided_at)
    select t.turn_id, t.call_number, t.call_index, c.id, 1, 'approval', c.agent, t.name, array[t.name], 'approved', 'call',
      holdfast_now(), holdfast_now()
    from tool_calls t join conversations c on c.id = t.conversation_id
    where c.id = ${conversationId} and t.call_number % ${STEPS_PER_DECISION} = 1`;
}

/** One a step: what the turn of the template began with. */
async function insertEvents(sql: Transaction, { template, conversationId, turnId, steps }: Filling): Promise<void> {
  await sql`
    insert into events (conversation_id, number, kind, turn_id, epoch, data)
    select ${conversationId}, n.step, e.kind, ${turnId}, 1, e.data
    from events e cross join generate_series(1, ${steps}::int) as n (step)
    where e.conversation_id = ${template} and e.number = 1`;
}

function firstKeptSequence({ steps }: FillRequest): number {
  return 2 * (steps - KEPT_STEPS + 1);
}

async function insertCompaction(sql: Transaction, filling: Filling): Promise<void> {
  const { conversationId, turnId, compactionId, steps } = filling;
  const firstKept = firstKeptSequence(filling);
  const part = { number: 1, wave: 1, kind: 'history', fromSequence: 1, toSequence: firstKept - 1 };
  const shown = { framing: DEFAULT_FRAMING, afterSequence: 0 };
  const plan = { keptSequences: [1], parts: [part], shown };
  await sql`
    insert into compactions (id, conversation_id, turn_id, epoch, call_number, reason, preset, form, plan, head_entry_id,
      first_kept_sequence, covered_through_sequence, tokens_before, tokens_after, status, number,
      marker_entry_id, summary, summary_measurements, files, view_after, finished_at)
    select ${compactionId}, ${conversationId}, ${turnId}, 1, ${steps + 1}, 'manual', 'default', 'summary',
      ${JSON.stringify(plan)}::text::json, e.parent_id,
      ${firstKept}, ${firstKept - 1}, 2, 1, 'committed', 1, e.id, to_json(${SUMMARY}::text),
      row(${SUMMARY.length}, 0, 0, 0, 0, 0, ${SUMMARY.length}, 0, 0, 0, 1)::measurements, '{"read": [], "modified": []}',
      (select sum(k.measurements) from entries k
        where k.conversation_id = ${conversationId} and (k.sequence = 1 or k.sequence >= ${firstKept}))
        + row(${SUMMARY.length}, 0, 0, 0, 0, 0, ${SUMMARY.length}, 0, 0, 0, 1)::measurements, holdfast_now()
    from entries e where e.conversation_id = ${conversationId} and e.kind = 'compaction'`;
}

/** The call that wrote the summary, and results that passes before it had cleared. */
async function insertPartsOfCompaction(sql: Transaction, filling: Filling): Promise<void> {
  const { conversationId, compactionId } = filling;
  const covered = firstKeptSequence(filling) - 1;
  await sql`
    insert into compaction_parts (compaction_id, number, conversation_id, epoch, wave, kind, from_sequence, to_sequence,
      input_estimate, maximum_output, state, text, prompt_version, model)
    select id, 1, conversation_id, 1, 1, 'history', 1, ${covered}, 2, 1, 'written', summary, 'filled', 'filled'
    from compactions where id = ${compactionId}`;
  await sql`
    insert into compaction_operations (compaction_id, conversation_id, entry_sequence, kind, measurements)
    select ${compactionId}, ${conversationId}, sequence, 'clear', measurements from entries
    where conversation_id = ${conversationId} and kind = 'tool_result' and sequence <= ${covered}`;
}

async function moveHead(sql: Transaction, { conversationId, compactionId }: Filling): Promise<void> {
  await sql`
    update conversations c set head_entry_id = e.id, last_sequence = e.sequence, compactions = 1,
      compaction_id = ${compactionId}, view_offset = k.view_after - e.sums
    from entries e, compactions k
    where c.id = ${conversationId} and k.id = ${compactionId} and e.id = k.marker_entry_id`;
}

async function remember(sql: Database, conversationId: string): Promise<void> {
  const [row] = await sql<{ agent: string }[]>`select agent from conversations where id = ${conversationId}`;
  if (row === undefined) throw new TypeError('the template of a filled conversation does not exist');
  const scope = { scope: 'agent', scopeName: row.agent } as const;
  const memory = { id: newId(), ...scope, kind: 'fact', text: MEMORY, origin: 'user', conversationId } as const;
  await transaction(sql, (open) => writeMemory(open, memory));
}
