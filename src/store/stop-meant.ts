import type { CancelRequest } from '../turn/cancel-request.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Queries } from './database.ts';
import type { MessageKind } from './messages.ts';

/**
 * Whether the newest stop that waits is meant for the turn that begins. It is when something waited before it, unless a later
 * message or `resume` says that the user goes on: another command does not. Of compactions alone, a later one says that it is
 * wanted after all.
 * @param waiting kinds of what waits, in order of arrival
 */
export function isStopMeant(waiting: readonly MessageKind[]): boolean {
  const stop = waiting.lastIndexOf('stop');
  const before = waiting.slice(0, Math.max(0, stop)).filter((kind) => kind !== 'stop');
  const after = waiting.slice(stop + 1);
  if (before.length === 0 || after.some((kind) => kind === 'message' || kind === 'resume')) return false;
  return !(before.every((kind) => kind === 'compact') && after.includes('compact'));
}

/**
 * The same of Temporal's own cancel, which came before the turn and is no row: by what the turn took when it began, and the
 * commands that wait. When the cancelled run had ended a turn, that is what the cancel was for, and what was queued still
 * starts the next one. Repeated, it says the same.
 */
export async function isCancelMeant(
  sql: Queries,
  { conversationId, turnId }: TurnReference,
  { runId, reachesUntil }: CancelRequest,
): Promise<boolean> {
  const rows = await sql<{ kind: MessageKind; later: boolean }[]>`
    select kind, created_at > ${reachesUntil} or (kind = 'message' and mode = 'queue' and exists (
        select from turns t
        where t.conversation_id = m.conversation_id and t.run_id = ${runId} and t.id <> ${turnId})) as later
    from messages m
    where conversation_id = ${conversationId} and kind <> 'stop'
      and (turn_id = ${turnId} or (consumed_at is null and kind <> 'message'))
    order by position`;
  const kindsOf = (wanted: boolean): MessageKind[] =>
    rows.flatMap(({ kind, later }) => (later === wanted ? [kind] : []));
  return isStopMeant([...kindsOf(false), 'stop', ...kindsOf(true)]);
}
