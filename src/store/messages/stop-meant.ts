import type { Queries } from '../database/database.ts';
import type { MessageKind, MessageMode } from './messages.ts';

/**
 * How long behind a turn's end a stop is still meant for it: who sent it could not know yet that the turn was over. As long as a
 * stop may take, so nobody has waited longer for its effect.
 */
const LATE_STOP_MILLISECONDS = 2_000;

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

export interface WaitingRow {
  readonly kind: MessageKind;
  readonly mode: MessageMode;
  /** By the clock of Postgres. */
  readonly sentAt: Date;
  /** Epoch of the conversation then; `null` in imported rows. */
  readonly sentEpoch: number | null;
}

export interface LastTurn {
  readonly epoch: number;
  /** By the clock of Postgres. */
  readonly endedAt: Date;
}

/**
 * The same behind another turn. A stop that came just behind its end was meant for that turn, and what had been queued by then
 * still starts the next one. With the turn long over, it stops the one that begins.
 * @param last `null`: there was none, or it is open still
 */
export function isStopMeantBehind(waiting: readonly WaitingRow[], last: LastTurn | null): boolean {
  const stop = waiting.findLast(({ kind }) => kind === 'stop');
  const isLate = last !== null && stop !== undefined && isSentAround(stop, last);
  const answered = isLate
    ? waiting.filter((row) => row.kind === 'message' && row.mode === 'queue' && isSentBy(row, last))
    : [];
  return isStopMeant([...waiting.filter((row) => !answered.includes(row)), ...answered].map(({ kind }) => kind));
}

/** Whether it had come by the turn's end. The end raised the epoch, so no clock has to tell. */
function isSentBy({ sentAt, sentEpoch }: WaitingRow, { epoch, endedAt }: LastTurn): boolean {
  return sentEpoch === null ? sentAt.getTime() <= endedAt.getTime() : sentEpoch <= epoch;
}

/**
 * Whether it had come by the turn's end, or just behind it. What came behind the end, and long before it by the clock, came when the clock
 * had stepped back in between: nobody knows how long behind it.
 */
function isSentAround(row: WaitingRow, last: LastTurn): boolean {
  const behind = row.sentAt.getTime() - last.endedAt.getTime();
  return isSentBy(row, last) || Math.abs(behind) <= LATE_STOP_MILLISECONDS;
}

export async function isStopMeantBehindLast(
  sql: Queries,
  conversationId: string,
  waiting: readonly WaitingRow[],
): Promise<boolean> {
  if (waiting.every(({ kind }) => kind !== 'stop')) return false;
  const [last] = await sql<{ epoch: number; endedAt: Date | null }[]>`
    select epoch, ended_at from turns where conversation_id = ${conversationId} order by epoch desc limit 1`;
  const endedAt = last?.endedAt ?? null;
  return isStopMeantBehind(waiting, last === undefined || endedAt === null ? null : { epoch: last.epoch, endedAt });
}
