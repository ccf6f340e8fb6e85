import { createHash } from 'node:crypto';
import type { Measurements } from '../../context/log/measurements.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { SpendingLimits } from '../../turn/spending.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Transaction } from '../database/database.ts';
import type { NewContent } from '../log/entries.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { measurementsText } from '../log/measurement-columns.ts';
import { measureContent } from '../../context/log/measure.ts';
import { rulesWithPins } from '../../context/log/pins.ts';
import { readNewestNote } from '../log/notes.ts';
import { jsonText } from '../log/stored-text.ts';
import type { Writer } from '../database/transaction.ts';

export interface BeginTurnRequest {
  readonly conversationId: string;
  /** Id for the turn if one begins; a repeated call for the same run gets the first one's. */
  readonly turnId: string;
  readonly workflowId: string;
  /** Temporal's run id: beginning twice for one run is beginning once. */
  readonly runId: string;
  /** When Temporal first scheduled the activity that begins it, by Temporal's clock. Default: it is none of Temporal's. */
  readonly scheduledAt?: Date;
  readonly workerIdentity: string;
}

export interface TurnSnapshot {
  readonly snapshot: AgentSnapshot;
  /** Measurements of instructions and tool schemas: the part of a request that no entry holds. */
  readonly fixed: Measurements;
  /** The rules as a note; appended when they differ from the newest one. `null`: the agent has none. */
  readonly rules: NewContent | null;
}

/**
 * With a policy whose passes last for a turn, a turn begins with the whole conversation again; so does
 * the first one after such a policy. Counts and usage of the shorter view say nothing of the whole.
 */
export async function endPassesOfTurns(
  sql: Transaction,
  { conversationId }: TurnReference,
  snapshot: AgentSnapshot,
): Promise<void> {
  const lastsTurn = snapshot.policy.lasts === 'turn';
  await sql`
    update conversations c
    set compactions_over = c.compactions, view_offset = no_measurements(), usage_entry_id = null, compaction_id = null
    where c.id = ${conversationId} and c.compactions > c.compactions_over and (${lastsTurn} or coalesce((
      select model_in_force(t) -> 'policy' ->> 'lasts' = 'turn' from turns t
      where t.conversation_id = c.id order by t.epoch desc limit 1), false))`;
}

interface NewTurn extends BeginTurnRequest {
  readonly turn: TurnReference;
  readonly snapshot: TurnSnapshot;
  readonly commandOnly: boolean;
  readonly messages: number;
  readonly limits: SpendingLimits;
}

/** The row of a turn that begins. What its conversation used before is taken off its sums (view `turn_usage`). */
export async function insertTurn(sql: Transaction, start: NewTurn): Promise<void> {
  const { turn, workflowId, runId } = start;
  const { snapshot } = start.snapshot;
  await sql`
    insert into turns (id, conversation_id, epoch, workflow_id, begun_by_run_id, run_id, begin_scheduled_at, worker_identity,
      agent, model, preset, snapshot_hash, command_only, messages, limits, compactions_over, model_calls, input_tokens, cache_read_tokens,
      cache_write_tokens, output_tokens, cost, calls_of_unknown_cost, steps, tool_calls)
    select ${turn.turnId}, ${turn.conversationId}, ${turn.epoch}, ${workflowId}, ${runId}, ${runId},
      ${start.scheduledAt ?? null}, ${start.workerIdentity}, ${snapshot.agent}, ${snapshot.model}, ${snapshot.policy.name},
      ${await storeSnapshot(sql, start.snapshot)}, ${start.commandOnly}, ${start.messages},
      ${jsonText(start.limits)}::text::json,
      c.compactions_over, -c.model_calls, -c.input_tokens, -c.cache_read_tokens, -c.cache_write_tokens, -c.output_tokens,
      -c.cost, -c.calls_of_unknown_cost, -c.steps, -c.tool_calls
    from conversations c where c.id = ${turn.conversationId}`;
}

/** Its content is sent once; the lock keeps the row from being deleted with its last turn. */
async function storeSnapshot(sql: Transaction, { snapshot, fixed }: TurnSnapshot): Promise<Buffer> {
  const [content, measured] = [jsonText(snapshot), measurementsText(fixed)];
  const hash = createHash('sha256').update(content).update(measured).digest();
  const [stored] = await sql`select from agent_snapshots where hash = ${hash} for key share`;
  if (stored === undefined) {
    await sql`select keep_snapshot(${hash}, ${content}::text::json, ${measured}::measurements)`;
  }
  return hash;
}

export async function tellBeginning(writer: Writer, snapshot: AgentSnapshot, commandOnly: boolean): Promise<void> {
  const { agent, model: own, policy, assumedWindows = [] } = snapshot;
  await writer.event('turn_begun', { agent, model: own, preset: policy.name, commandOnly });
  if (commandOnly) return;
  for (const { model, window } of assumedWindows) await writer.event('model_window_assumed', { model, window });
}

/** Rules that were taken away are replaced by an empty note; pins stay. */
export async function appendRules(writer: Writer, rules: NewContent | null): Promise<void> {
  const newest = (await readNewestNote(writer.sql, writer.turn.conversationId, 'rules')) ?? [];
  const content = rulesWithPins(rules?.content ?? [], newest);
  if (jsonText(newest) === jsonText(content)) return;
  const measurements = measureContent(content);
  const { turn } = writer;
  const note = await insertEntry(writer.sql, { content, measurements, kind: 'note', slot: 'rules', turn });
  await writer.event('rules_changed', { entryId: note.id });
}

/** Before the messages of the turn: what comes after a note never changes, so the provider's cache holds. */
export async function appendMemories(writer: Writer, memories: NewContent | null): Promise<void> {
  if (memories === null) return;
  const note = await insertEntry(writer.sql, { ...memories, kind: 'note', slot: 'memories', turn: writer.turn });
  await writer.event('note_added', { slot: 'memories', entryId: note.id });
}
