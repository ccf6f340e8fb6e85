import type { MessageKind } from './messages.ts';
import { consumeCommands } from './waiting.ts';
import { appendMessages } from './take-messages.ts';
import type { TakenMessage } from './take-messages.ts';
import type { Writer } from '../database/transaction.ts';

/** What waits that a stop is meant for besides the turn, each in order of arrival. */
export interface StoppedRows {
  readonly stops: readonly string[];
  /** Those that steer, and the one behind the fork that this turn has made. */
  readonly messages: readonly TakenMessage[];
  readonly compactions: readonly string[];
}

/**
 * What had come by the newest stop that waits. Read by one statement: a stop that comes later than it, with messages before it,
 * waits for the turn that follows.
 */
export async function readStopped({ sql, turn }: Writer): Promise<StoppedRows> {
  const rows = await sql<{ readonly id: string; readonly kind: MessageKind }[]>`
    select id, kind from messages m
    where conversation_id = ${turn.conversationId} and consumed_at is null
      and (kind in ('stop', 'compact') or (kind = 'message' and (mode = 'steer' or exists (
        select from messages f
        where f.conversation_id = m.conversation_id and f.id = m.follows_id and f.turn_id = ${turn.turnId}))))
      and position <= (
        select max(s.position) from messages s
        where s.conversation_id = ${turn.conversationId} and s.consumed_at is null and s.kind = 'stop')
    order by position`;
  const idsOf = (wanted: MessageKind): string[] => rows.flatMap(({ id, kind }) => (kind === wanted ? [id] : []));
  return {
    stops: idsOf('stop'),
    messages: rows.filter(({ kind }) => kind === 'message'),
    compactions: idsOf('compact'),
  };
}

/**
 * The turn that ends takes it: messages stand in the log, and the next turn answers them with what it is asked for; a compaction
 * is not made.
 * @param told `isGivenUp`: the timeline says already that a compaction was given up. `tokens`: of the view
 */
export async function takeStopped(
  writer: Writer,
  { stops, messages, compactions }: StoppedRows,
  { isGivenUp, tokens }: { readonly isGivenUp: boolean; readonly tokens: number | null },
): Promise<void> {
  const { sql, turn, event } = writer;
  const { conversationId, turnId } = turn;
  await appendMessages(writer, messages);
  await consumeCommands(sql, { conversationId, kind: 'stop', turnId, ids: stops });
  await consumeCommands(sql, { conversationId, kind: 'compact', turnId, ids: compactions });
  if (compactions.length > 0 && !isGivenUp) await event('compaction_declined', { reason: 'stopped', tokens });
}

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
