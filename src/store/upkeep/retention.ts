import type { Database, Fragment } from '../database/database.ts';
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
 * Deletes idle conversations of the queue that a rule no longer keeps, least recently active first. Conversations with an open turn or
 * a message that waits stay, whatever their age. One that others have locked keeps none of the others.
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
  for (const { agent, days } of rules) {
    if (days === null) continue;
    const ruled = sql`c.task_queue = ${taskQueue}
      and ${agent === null ? sql`not c.agent = any(${named})` : sql`c.agent = ${agent}`}`;
    for (const expired of await findExpired(sql, days, ruled)) {
      if (signal.aborted) return deleted;
      if (!(await deleteIdle(sql, expired, listener))) continue;
      deleted += 1;
      listener.deleted?.(expired.id);
    }
  }
  return deleted;
}

interface Expired {
  readonly id: string;
  /** Since when it is kept, with microseconds: see `keptSince`. */
  readonly keptSince: string;
}

async function findExpired(sql: Database, days: number, ruled: Fragment): Promise<readonly Expired[]> {
  const idle = sql`c.active_turn_id is null
    and not exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null)`;
  const keptSince = keptSinceOf(sql);
  // The first condition says no more than the second, and has an index.
  const before = sql`holdfast_now() - make_interval(secs => ${days * 86_400})`;
  return sql<Expired[]>`
    select c.id, (${keptSince})::text as kept_since from conversations c
    where ${ruled} and ${idle} and c.active_at < ${before} and ${keptSince} < ${before}
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
