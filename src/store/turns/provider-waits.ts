import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ProviderWait } from '../../turn/provider-wait.ts';
import type { Database, Fragment, Queries } from '../database/database.ts';
import { recordEvent } from '../log/events.ts';

/** Newest events of a conversation that are looked at for a wait: behind one come those of what goes on beside it, a wave of summaries. */
const EVENTS_BEHIND_WAIT = 100;
/** Waits for the same time are spread by a tenth, five seconds at most: what differs by less than this ends at the same time. */
const SAME_SHARE = 0.15;
const SAME_MILLISECONDS = 6_000;

/**
 * Condition: a call of the turn waits for its provider, longer than the given milliseconds from now. No model call was begun
 * since the wait was told.
 */
function waitsLongerThan(
  sql: Queries,
  { conversation, turn, milliseconds }: { conversation: Fragment; turn: Fragment; milliseconds: number },
  more: Fragment = sql``,
): Fragment {
  return sql`exists (
    select from events v
    where v.conversation_id = ${conversation} and v.number > ${EVENTS_BEHIND_WAIT}::integer * -1 + (
      select max(n.number) from events n where n.conversation_id = ${conversation})
      and v.turn_id = ${turn} and v.kind = 'turn_waiting' ${more}
      and v.created_at + make_interval(secs => (v.data ->> 'delayMilliseconds')::float8 / 1000)
        > holdfast_now() + make_interval(secs => ${milliseconds / 1_000})
      and not exists (
        select from events u
        where u.conversation_id = v.conversation_id and u.number > v.number and u.turn_id = v.turn_id
          and u.kind in ('model_call_started', 'turn_wait_over')))`;
}

/** Condition on `turns t`: one of its calls waits for its provider. */
export function waitsForProvider(sql: Queries): Fragment {
  return waitsLongerThan(sql, { conversation: sql`t.conversation_id`, turn: sql`t.id`, milliseconds: 0 });
}

/**
 * Tells that the turn waits for a provider, unless the timeline says so until the call is made again.
 * @throws StoreError `stale_epoch`
 */
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

/** Tells that a summary is asked for that the turn waited with: no event tells of the begin of such a call. @returns whether it did wait */
export async function recordWaitOver(sql: Database, turn: TurnReference): Promise<boolean> {
  const waited = await isWaiting(sql, turn, 0);
  if (waited) await recordEvent(sql, { turn, kind: 'turn_wait_over', data: {} });
  return waited;
}

async function isWaiting(
  sql: Database,
  { conversationId, turnId }: TurnReference,
  milliseconds: number,
  more?: Fragment,
): Promise<boolean> {
  const of = { conversation: sql`${conversationId}::uuid`, turn: sql`${turnId}::uuid`, milliseconds };
  const [row] = await sql<{ waits: boolean }[]>`select ${waitsLongerThan(sql, of, more)} as waits`;
  return row?.waits === true;
}
