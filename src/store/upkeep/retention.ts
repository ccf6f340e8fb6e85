import type { Database } from '../database/database.ts';
import { deleteConversation, keptSinceOf } from '../conversations/delete-conversation.ts';
import { StoreError, isLockConflict } from '../database/errors.ts';

export interface RetentionRule {
  /** Name of the agent; `null` for every agent that has no rule of its own. */
  readonly agent: string | null;
  /** Days since a conversation was active last, or was imported. `null`: for ever. */
  readonly days: number | null;
}

/** Rules of the workers of one queue, which hold for the conversations of that queue alone. */
export interface QueueRetention {
  readonly taskQueue: string;
  readonly rules: readonly RetentionRule[];
}

export interface RetentionListener {
  readonly deleted?: (conversationId: string) => void;
  /** Others had it locked for too long: it stays until the next look. */
  readonly passedOver?: (conversationId: string, error: unknown) => void;
}

/**
 * Deletes idle conversations of the queue that a rule no longer keeps, of each agent the least recently active first. Conversations with
 * an open turn or a message that waits stay, whatever their age. One that others have locked keeps none of the others.
 *
 * @returns how many were deleted
 */
export async function applyRetention(
  sql: Database,
  { taskQueue, rules }: QueueRetention,
  signal: AbortSignal,
  listener: RetentionListener = {},
): Promise<number> {
  const named = rules.flatMap(({ agent }) => (agent === null ? [] : [agent]));
  let deleted = 0;
  for (const { agent: ruled, days } of rules) {
    if (days === null) continue;
    const agents = ruled === null ? await otherAgents(sql, taskQueue, named) : [ruled];
    for (const agent of agents) {
      for (const expired of await findExpired(sql, { taskQueue, agent, days })) {
        if (signal.aborted) return deleted;
        if (!(await deleteIdle(sql, expired, listener))) continue;
        deleted += 1;
        listener.deleted?.(expired.id);
      }
    }
  }
  return deleted;
}

/** Agents with idle conversations in the queue. From one to the next by the index, whatever each of them has. */
async function otherAgents(sql: Database, taskQueue: string, named: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ agent: string }[]>`
    with recursive found (agent) as (
      select min(agent) from conversations where task_queue = ${taskQueue} and active_turn_id is null
      union all
      select (select min(c.agent) from conversations c
        where c.task_queue = ${taskQueue} and c.active_turn_id is null and c.agent > f.agent)
      from found f where f.agent is not null)
    select agent from found where agent is not null`;
  return rows.map(({ agent }) => agent).filter((agent) => !named.includes(agent));
}

interface Expired {
  readonly id: string;
  /** Since when it is kept, with microseconds: see `keptSince`. */
  readonly keptSince: string;
}

async function findExpired(
  sql: Database,
  { taskQueue, agent, days }: { readonly taskQueue: string; readonly agent: string; readonly days: number },
): Promise<readonly Expired[]> {
  const idle = sql`c.active_turn_id is null
    and not exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null)`;
  const keptSince = keptSinceOf(sql);
  // The first condition says no more than the second, and has an index.
  const before = sql`holdfast_now() - make_interval(secs => ${days * 86_400})`;
  return sql<Expired[]>`
    select c.id, (${keptSince})::text as kept_since from conversations c
    where c.task_queue = ${taskQueue} and c.agent = ${agent} and ${idle} and c.active_at < ${before} and ${keptSince} < ${before}
    order by ${keptSince} limit 1000`;
}

/**
 * Deletes the timelines and ledgers of the queue's turns that ended so many days ago: events, tries of steps, and commands. What goes on
 * needs, and what is shown of costs, `delete_old_timeline` keeps. A conversation that others have locked stays until the next look.
 */
export async function deleteOldTimelines(
  sql: Database,
  { taskQueue, days }: { readonly taskQueue: string; readonly days: number },
  signal: AbortSignal,
  passedOver: NonNullable<RetentionListener['passedOver']>,
): Promise<void> {
  const locked: string[] = [];
  for (;;) {
    const found = await sql<{ id: string }[]>`
      select id from conversations
      where task_queue = ${taskQueue} and timeline_since < holdfast_now() - make_interval(days => ${days})
        and id <> all(${locked}::uuid[])
      order by timeline_since limit 100`;
    if (found.length === 0) return;
    for (const { id } of found) {
      if (signal.aborted) return;
      try {
        await sql`select delete_old_timeline(${id}, ${days})`;
      } catch (error) {
        if (!isLockConflict(error)) throw error;
        passedOver(id, error);
        locked.push(id);
      }
    }
  }
}

/** `false` when a message came or a turn began meanwhile, or somebody else deleted it or has it locked. */
async function deleteIdle(
  sql: Database,
  { id, keptSince: idleSince }: Expired,
  { passedOver }: RetentionListener,
): Promise<boolean> {
  try {
    await deleteConversation(sql, id, idleSince);
    return true;
  } catch (error) {
    const passed = error instanceof StoreError && ['conversation_busy', 'conversation_not_found'].includes(error.code);
    if (passed) return false;
    if (!isLockConflict(error)) throw error;
    passedOver?.(id, error);
    return false;
  }
}
