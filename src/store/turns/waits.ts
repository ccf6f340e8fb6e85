import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ProviderWait, WorkerNeed } from '../../turn/limits.ts';
import type { Database, Fragment, Queries } from '../database/database.ts';
import { writeLocked } from '../database/transaction.ts';
import { recordEvent } from '../log/events.ts';
import { jsonText } from '../log/stored-text.ts';

/** Newest events of a conversation that are looked at for a wait: behind one come those of what goes on beside it, a wave of summaries. */
const EVENTS_BEHIND_WAIT = 100;
/** Waits for the same time are spread by a tenth, five seconds at most: what differs by less than this ends at the same time. */
const SAME_SHARE = 0.15;
const SAME_MILLISECONDS = 6_000;

/**
 * What the turn waits for, for longer than the given milliseconds from now; null: it does not. Neither a model call nor a turn was begun
 * since the wait was told. A wait for a worker has no end that anybody knows.
 */
function waitData(
  sql: Queries,
  { conversation, turn, milliseconds }: { conversation: Fragment; turn: Fragment; milliseconds: number },
  more: Fragment = sql``,
): Fragment {
  return sql`(
    select v.data from events v
    where v.conversation_id = ${conversation} and v.number > ${EVENTS_BEHIND_WAIT}::integer * -1 + (
      select max(n.number) from events n where n.conversation_id = ${conversation})
      and v.turn_id is not distinct from ${turn} and v.kind = 'turn_waiting' ${more}
      and (v.data ? 'needs' or v.created_at + make_interval(secs => (v.data ->> 'delayMilliseconds')::float8 / 1000)
        > holdfast_now() + make_interval(secs => ${milliseconds / 1_000}))
      and not exists (
        select from events u
        where u.conversation_id = v.conversation_id and u.number > v.number
          and (u.turn_id = v.turn_id or v.turn_id is null) and u.kind in ('model_call_started', 'turn_wait_over', 'turn_begun'))
    order by v.number desc limit 1)`;
}

export function waitReasonOf(sql: Queries): Fragment {
  return sql`${waitData(sql, { conversation: sql`t.conversation_id`, turn: sql`t.id`, milliseconds: 0 })} ->> 'reason'`;
}

/** Tells that the turn waits for a provider, unless the timeline says so until the call is made again. */
export async function recordWait(
  sql: Database,
  turn: TurnReference,
  { reason, provider, delayMilliseconds, retryMilliseconds }: ProviderWait & { readonly provider: string },
): Promise<void> {
  const until = delayMilliseconds - Math.min(SAME_MILLISECONDS, delayMilliseconds * SAME_SHARE);
  const milliseconds = Math.min(retryMilliseconds, until);
  const same = sql`and v.data ->> 'reason' = ${reason} and v.data ->> 'provider' = ${provider}`;
  if (await isWaiting(sql, turn, milliseconds, same)) return;
  await recordEvent(sql, { turn, kind: 'turn_waiting', data: { reason, delayMilliseconds, provider } });
}

/** Tells that no worker so far has what comes next in the conversation, unless the timeline says so. */
export async function recordWorkerWait(
  sql: Database,
  { conversationId, turn }: { readonly conversationId: string; readonly turn: TurnReference | null },
  need: WorkerNeed,
): Promise<void> {
  const turnId = turn?.turnId ?? null;
  await writeLocked(sql, conversationId, async ({ sql: open, event, conversation }) => {
    // Deleted, or taken over: the next attempt finds that.
    if (conversation === undefined || (turn !== null && turn.epoch !== conversation.epoch)) return;
    const same = open`and v.data @> ${jsonText(need)}::text::jsonb`;
    if (await isWaiting(open, { conversationId, turnId }, 0, same)) return;
    const { epoch } = conversation;
    await event({ conversationId, turnId, epoch }, 'turn_waiting', { reason: 'no_worker', ...need });
  });
}

/** What no worker so far has that comes next in the conversation, in its open turn or before one begins; `null`: nothing. */
export async function readWorkerNeed(
  sql: Queries,
  { conversationId, turnId }: { readonly conversationId: string; readonly turnId: string | null },
): Promise<WorkerNeed | null> {
  const of = { conversation: sql`${conversationId}::uuid`, turn: sql`${turnId}::uuid`, milliseconds: 0 };
  const [row] = await sql<
    { wait: WorkerNeed | null }[]
  >`select ${waitData(sql, of, sql`and v.data ? 'needs'`)} as wait`;
  return row?.wait == null ? null : { needs: row.wait.needs, name: row.wait.name };
}

/** Tells that a call goes on that the turn waited with, where no other event tells of its begin. */
export async function recordWaitOver(sql: Database, turn: TurnReference): Promise<void> {
  if (await isWaiting(sql, turn, 0)) await recordEvent(sql, { turn, kind: 'turn_wait_over', data: {} });
}

async function isWaiting(
  sql: Queries,
  { conversationId, turnId }: { readonly conversationId: string; readonly turnId: string | null },
  milliseconds: number,
  more?: Fragment,
): Promise<boolean> {
  const of = { conversation: sql`${conversationId}::uuid`, turn: sql`${turnId}::uuid`, milliseconds };
  const [row] = await sql<{ waits: boolean }[]>`select ${waitData(sql, of, more)} is not null as waits`;
  return row?.waits === true;
}
