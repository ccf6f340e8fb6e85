import type { Transaction } from './database.ts';

/** Days after which no worker can still be at work for a run that has nothing to do. */
const KEPT_DAYS = 7;

interface Run {
  readonly conversationId: string;
  readonly runId: string;
}

/** Whether the run was told before that nothing waits. */
export async function wasIdle(sql: Transaction, { conversationId, runId }: Run): Promise<boolean> {
  const rows = await sql`select from idle_runs where conversation_id = ${conversationId} and run_id = ${runId}`;
  return rows.length > 0;
}

/** The run is told that nothing waits, and will be told nothing else; forgets those of the conversation that are long over. */
export async function noteIdle(sql: Transaction, { conversationId, runId }: Run): Promise<void> {
  await sql`
    delete from idle_runs
    where conversation_id = ${conversationId} and answered_at < holdfast_now() - make_interval(days => ${KEPT_DAYS})`;
  await sql`insert into idle_runs (conversation_id, run_id) values (${conversationId}, ${runId}) on conflict do nothing`;
}
