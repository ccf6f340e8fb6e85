import type { Database, Queries } from '../../src/store/database/database.ts';

export const ENTRIES = 5_000;
export const CONVERSATIONS = 120;
export const CALLS = 600;

/** Triggers and foreign keys are off: turn by turn it would take minutes. */
function fill(database: Database, work: (open: Queries) => Promise<unknown>): Promise<unknown> {
  return database.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await work(open);
  });
}

/** A conversation with so many entries. */
export async function fillLog(database: Database, conversationId: string, entries: number): Promise<void> {
  await fill(database, async (open) => {
    await open`
      insert into entries (id, parent_id, conversation_id, sequence, branch, turn_id, epoch, kind, content, measurements, sums)
      select md5(${conversationId} || n)::uuid, case when n > c.last_sequence + 1 then md5(${conversationId} || (n - 1))::uuid else c.head_entry_id end,
        c.id, n, 0, e.turn_id, 1, 'user', json_build_array(json_build_object('type', 'text', 'text', 'Entry ' || n)), e.measurements, e.sums
      from conversations c join entries e on e.id = c.head_entry_id, generate_series(c.last_sequence + 1, ${entries}::int) n
      where c.id = ${conversationId}`;
    await open`
      update conversations set last_sequence = ${entries}, head_entry_id = md5(${conversationId} || ${entries}::int)::uuid
      where id = ${conversationId}`;
  });
}

/** Hundreds of model calls of a conversation, and hundreds of conversations. */
export async function fillLists(database: Database, conversationId: string): Promise<void> {
  await fill(database, async (open) => {
    await open`
      insert into model_attempts (turn_id, conversation_id, head_entry_id, call_number, attempt, epoch, estimated_tokens, compactions,
        renderer_version, purpose, model, view_fingerprint, state, ended_at)
      select turn_id, conversation_id, head_entry_id, n, 1, epoch, estimated_tokens, compactions, renderer_version, purpose, model,
        view_fingerprint, state, ended_at
      from model_attempts, generate_series(2, ${CALLS}::int) n where conversation_id = ${conversationId}`;
    await open`
      insert into conversations (id, tenant, task_queue, agent)
      select gen_random_uuid(), 'default', 'agent-turn', 'default' from generate_series(1, ${CONVERSATIONS}::int)`;
  });
}
