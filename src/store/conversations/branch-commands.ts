import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ViewPoint } from './branch-path.ts';
import type { Queries } from '../database/database.ts';
import { newestOnPath } from './branch-path.ts';

export type BranchRefusal =
  /** A turn began after it was sent: the conversation was not idle. */
  'conversation_busy' | 'branch_unknown';

/** A place to go on from. `headEntryId` null: before the first entry. */
export interface BranchPlace {
  readonly branch: number;
  readonly headEntryId: string | null;
  readonly headSequence: number;
}

export interface BranchCommand {
  readonly messageId: string;
  readonly kind: 'fork' | 'switch';
  readonly summarizes: boolean;
  readonly from: BranchPlace;
  /** A fork: the place at which a new branch begins. */
  readonly to: BranchPlace;
  /** The newest entry that both paths have; 0 for none. */
  readonly ancestorSequence: number;
}

export type ReadBranchCommand =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly messageId: string; readonly refusal: BranchRefusal }
  | { readonly kind: 'command'; readonly command: BranchCommand };

interface WaitingColumns {
  readonly id: string;
  readonly kind: 'fork' | 'switch';
  readonly targetEntryId: string | null;
  readonly targetBranch: number | null;
  readonly summarizes: boolean;
  readonly outdated: boolean;
  readonly branch: number;
  readonly headEntryId: string | null;
  readonly headSequence: number | null;
}

export async function readBranchCommand(sql: Queries, turn: TurnReference): Promise<ReadBranchCommand> {
  const { conversationId, turnId } = turn;
  const [row] = await sql<WaitingColumns[]>`
    select m.id, m.kind, m.target_entry_id, m.target_branch, m.summarizes, c.branch, c.head_entry_id,
      h.sequence as head_sequence,
      exists (
        select from turns t where t.conversation_id = m.conversation_id and t.id <> ${turnId}
          and t.epoch > m.sent_epoch and not t.command_only) as outdated
    from messages m
    join conversations c on c.id = m.conversation_id
    left join entries h on h.id = c.head_entry_id
    where m.conversation_id = ${conversationId} and m.consumed_at is null and m.kind in ('fork', 'switch')
    order by m.position limit 1`;
  if (row === undefined) return { kind: 'none' };
  const { id: messageId, kind } = row;
  if (row.outdated) return { kind: 'refused', messageId, refusal: 'conversation_busy' };
  const to =
    kind === 'fork'
      ? await forkPlace(sql, conversationId, row.targetEntryId)
      : await leafOf(sql, conversationId, row.targetBranch ?? 0);
  if (to === null) return { kind: 'refused', messageId, refusal: 'branch_unknown' };
  const from = { branch: row.branch, headEntryId: row.headEntryId, headSequence: row.headSequence ?? 0 };
  const ancestorSequence = await commonAncestor(sql, conversationId, from, to);
  return { kind: 'command', command: { messageId, kind, summarizes: row.summarizes, from, to, ancestorSequence } };
}

/** An entry as a place to fork at: inside a group, its end, so that no answer is parted from its results. */
async function forkPlace(sql: Queries, conversationId: string, entryId: string | null): Promise<BranchPlace | null> {
  if (entryId === null) return { branch: 0, headEntryId: null, headSequence: 0 };
  const [row] = await sql<{ id: string; branch: number; sequence: number }[]>`
    select g.id, g.branch, g.sequence from entries e
    join entries g on g.conversation_id = e.conversation_id and (
      g.id = e.id or g.turn_id = e.turn_id and g.call_number = e.call_number and g.kind = 'tool_result')
    where e.conversation_id = ${conversationId} and e.id = ${entryId}
    order by g.sequence desc limit 1`;
  return row === undefined ? null : { branch: row.branch, headEntryId: row.id, headSequence: row.sequence };
}

/** Where a branch stands: its newest entry, or where it began when it has none of its own. */
async function leafOf(sql: Queries, conversationId: string, branch: number): Promise<BranchPlace | null> {
  const [row] = await sql<{ head: string | null; sequence: number | null }[]>`
    select leaf.id as head, leaf.sequence from branches own
    left join lateral (${newestOnPath(sql, sql`e.id, e.sequence`, {
      of: sql`branches b`,
      where: sql`b.conversation_id = own.conversation_id and b.branch = own.branch`,
    })}) as leaf on true
    where own.conversation_id = ${conversationId} and own.branch = ${branch} and own.ancestor = ${branch}`;
  return row === undefined ? null : { branch, headEntryId: row.head, headSequence: row.sequence ?? 0 };
}

async function commonAncestor(
  sql: Queries,
  conversationId: string,
  one: BranchPlace,
  other: BranchPlace,
): Promise<number> {
  const [row] = await sql<{ sequence: number }[]>`${newestOnPath(sql, sql`e.sequence`, {
    of: sql`(
      select o.conversation_id, o.ancestor,
        least(o.through_sequence, t.through_sequence, ${one.headSequence}::integer, ${other.headSequence}::integer) as through_sequence
      from branches o join branches t on t.conversation_id = o.conversation_id and t.ancestor = o.ancestor
      where o.conversation_id = ${conversationId} and o.branch = ${one.branch} and t.branch = ${other.branch}) as b`,
    where: sql`true`,
  })}`;
  return row?.sequence ?? 0;
}

/** The place with everything that was ever committed. */
export function pointOf(conversationId: string, place: BranchPlace): ViewPoint {
  return {
    conversationId,
    branch: place.branch,
    headEntryId: place.headEntryId ?? '',
    headSequence: place.headSequence,
    compactions: 0,
  };
}
