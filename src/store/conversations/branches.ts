import type { ContentPart } from '../../context/log/content.ts';
import type { AnswerForm } from '../../turn/agent-snapshot.ts';
import { attachedFile, saidText, textOf } from '../../context/log/content.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { newestOnPath } from './branch-path.ts';
import type { TurnOutcome } from '../../turn/turn-reference.ts';

/** A branch of a conversation. */
export interface BranchRow {
  /** Its number, from 0. */
  readonly branch: number;
  readonly active: boolean;
  /** The branch that it left, or `null` for the first one. */
  readonly forkedFrom: number | null;
  /** Newest entry that both share, or `null` if there is none. */
  readonly forkedAtSequence: number | null;
  readonly entries: number;
  readonly headEntryId: string | null;
  /** First line of its own first message, clipped. Empty: it has none. */
  readonly title: string;
  readonly activeAt: string | null;
}

const TITLE_CHARACTERS = 80;

export async function listBranches(sql: Queries, conversationId: string): Promise<BranchRow[]> {
  return readBranches(sql, conversationId, sql`true`);
}

export async function readActiveBranch(sql: Queries, conversationId: string): Promise<BranchRow> {
  const [active] = await readBranches(sql, conversationId, sql`own.branch = c.branch`);
  if (active === undefined) throw new TypeError('the branches of a conversation are refused when there are none');
  return active;
}

type BranchColumns = Omit<BranchRow, 'title'> & { readonly first: readonly ContentPart[] | null };

/**
 * Sequences have no gaps, so that those of the first branch, which may be nearly all, are what the others leave; an index tells how many
 * these have. Everything else is one row of an index. `branch + 0` is what that index holds (`entries_of_branch`).
 */
async function readBranches(sql: Queries, conversationId: string, which: Fragment): Promise<BranchRow[]> {
  const rows = isId(conversationId)
    ? await sql<BranchColumns[]>`
        select own.branch, own.branch = c.branch as active, fork.ancestor as "forkedFrom",
          fork.through_sequence as "forkedAtSequence",
          case when own.branch > 0
            then (select count(*) from entries e where e.conversation_id = c.id and e.branch + 0 = own.branch)
            else c.last_sequence - (
              select coalesce(sum(others.entries), 0) from branches o cross join lateral (
                select count(*) as entries from entries e
                where e.conversation_id = o.conversation_id and e.branch + 0 = o.branch) as others
              where o.conversation_id = c.id and o.ancestor = o.branch and o.branch > 0)
          end::int as entries,
          iso_time(newest.created_at) as "activeAt",
          coalesce(newest.id, (select leaf.id from (${newestOnPath(sql, sql`e.id, e.sequence`, {
            of: sql`branches b`,
            where: sql`b.conversation_id = c.id and b.branch = own.branch`,
          })}) as leaf)) as "headEntryId",
          (select e.content from entries e where e.conversation_id = c.id and e.branch = own.branch and e.kind = 'user'
            order by e.sequence limit 1) as first
        from conversations c
        join branches own on own.conversation_id = c.id and own.ancestor = own.branch
        left join lateral (
          select b.ancestor, b.through_sequence from branches b
          where b.conversation_id = c.id and b.branch = own.branch and b.ancestor <> own.branch
          order by b.through_sequence desc limit 1) as fork on true
        left join lateral (
          select e.id, e.created_at from entries e where e.conversation_id = c.id and e.branch + 0 = own.branch
          order by e.sequence desc limit 1) as newest on true
        where c.id = ${conversationId} and ${which} order by own.branch`
    : [];
  if (rows.length === 0) throw new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
  return rows.map(({ first, ...row }) => Object.assign(row, { title: titleOf(first) }));
}

/** The first line that the user wrote, clipped; the name of its first file when there is none; else empty. */
export function titleOf(content: readonly ContentPart[] | null, longest = TITLE_CHARACTERS): string {
  const parts = content ?? [];
  const written = textOf(parts.filter((part) => attachedFile(part) === null)).trim();
  const [line = ''] = (written === '' ? saidText(parts).trim() : written).split('\n', 1);
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

export interface SaidMessage {
  readonly entryId: string;
  readonly parentId: string | null;
  readonly content: readonly ContentPart[];
  /** The form of the answer that it asked for. */
  readonly output: AnswerForm | null;
}

/**
 * A user's entry; without an id the newest of the active branch.
 * @throws StoreError `entry_not_found` when there is none, or it is no message of the user; `conversation_busy` when one waits
 *   to become an entry; `conversation_not_found`
 */
export async function readSaidMessage(
  sql: Queries,
  conversationId: string,
  entryId: string | null,
): Promise<SaidMessage> {
  const columns = sql`e.id, e.parent_id, e.content, e.sequence, (
    select m.output from messages m where m.conversation_id = e.conversation_id and m.id = e.message_id) as output`;
  const rows = isId(conversationId)
    ? await sql<(Omit<SaidMessage, 'entryId'> & { readonly id: string })[]>`${
        entryId === null
          ? newestOnPath(sql, columns, {
              of: sql`conversations c join branches b on b.conversation_id = c.id and b.branch = c.branch`,
              where: sql`c.id = ${conversationId}`,
              // What users say has an index of its own, by the column itself (`entries_talk`).
              which: sql`e.kind = 'user' and e.branch = b.ancestor`,
            })
          : sql`
              select ${columns} from entries e
              where e.conversation_id = ${conversationId} and e.id = ${isId(entryId) ? entryId : null} and e.kind = 'user'`
      }`
    : [];
  const [row] = rows;
  if (row === undefined) throw await whyNotSaid(sql, conversationId, entryId);
  return { entryId: row.id, parentId: row.parentId, content: row.content, output: row.output };
}

async function whyNotSaid(sql: Queries, conversationId: string, entryId: string | null): Promise<StoreError> {
  const [row] = isId(conversationId)
    ? await sql<{ waiting: boolean }[]>`
        select exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null) as waiting
        from conversations c where c.id = ${conversationId}`
    : [];
  if (row === undefined) return new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
  // What waits is no entry yet: there is a message, and it is not answered once.
  if (row.waiting && entryId === null) return branchIsBusy(conversationId);
  const which = entryId === null ? '' : ` with the id ${JSON.stringify(entryId)}`;
  return new StoreError('entry_not_found', `conversation ${conversationId} has no message of the user${which}`);
}

export function branchIsBusy(conversationId: string): StoreError {
  return new StoreError(
    'conversation_busy',
    `conversation ${conversationId} is at work, or a message waits: its branch can be changed once it is idle`,
  );
}

export interface BranchOfEntry {
  readonly branch: number;
  /** Whether it lies on the path that its conversation goes on with. */
  readonly onActiveBranch: boolean;
}

/**
 * On which branch entries were said, and summaries made; by id of the entry or the compaction. A summary made on another branch stands
 * on the active path where all that it was told of does, as it is in force there (`readSummaryInForce`).
 */
export async function readBranchPlaces(
  sql: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BranchOfEntry>> {
  const rows = await sql<{ id: string; branch: number; active: boolean }[]>`
    select w.id, e.branch, exists (
      select from branches b join conversations c on c.id = b.conversation_id and c.branch = b.branch
      where b.conversation_id = e.conversation_id and b.ancestor = coalesce(r.branch, e.branch)
        and coalesce(r.sequence, e.sequence) <= b.through_sequence) as active
    from unnest(${[...ids]}::uuid[]) as w (id)
    left join compactions k on k.id = w.id
    left join entries r on r.conversation_id = k.conversation_id and r.sequence = k.covered_through_sequence
    join entries e on e.id = coalesce(k.marker_entry_id, w.id)`;
  return new Map(rows.map(({ id, branch, active }) => [id, { branch, onActiveBranch: active }]));
}

export async function readLeftBranches(sql: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const places = await readBranchPlaces(sql, ids);
  return new Map([...places].flatMap(([id, { branch, onActiveBranch }]) => (onActiveBranch ? [] : [[id, branch]])));
}

/** The newest turn on the path of a branch that was more than a command: the task that a resume there goes on with. */
export interface BranchTask {
  readonly branch: number;
  readonly active: boolean;
  readonly turnId: string;
  readonly outcome: TurnOutcome | null;
  readonly reason: string | null;
  /** It completed, and the path holds its answer: forked before that, the branch has only what was asked. */
  readonly isDone: boolean;
}

/**
 * Newest activity first; a branch on whose path nothing was asked has none. What a turn says before it knows what is asked, as
 * rules, and what a command leaves is no part of a task; a turn that resumed one begins with a note.
 */
export async function readBranchTasks(sql: Queries, conversationId: string): Promise<BranchTask[]> {
  return readTasks(sql, conversationId, sql`true`);
}

/** That of the branch that the conversation goes on with; reads as much with a thousand other branches as with none. */
export async function readActiveTask(sql: Queries, conversationId: string): Promise<BranchTask | null> {
  const [task] = await readTasks(sql, conversationId, sql`own.branch = c.branch`);
  return task ?? null;
}

async function readTasks(sql: Queries, conversationId: string, wanted: Fragment): Promise<BranchTask[]> {
  return sql<BranchTask[]>`
    select own.branch, own.branch = c.branch as active, t.id as "turnId", t.outcome, t.reason,
      coalesce(t.outcome = 'completed' and coalesce(t.reason, '') not in ('answer_cut', 'answer_paused'), false)
        and (answer.sequence is null or exists (
          select from branches b where b.conversation_id = c.id and b.branch = own.branch and b.ancestor = answer.branch
            and answer.sequence <= b.through_sequence)) as "isDone"
    from conversations c
    join branches own on own.conversation_id = c.id and own.ancestor = own.branch
    cross join lateral (
      select e.turn_id, e.sequence from entries e
      join branches b on b.conversation_id = e.conversation_id and b.branch = own.branch and b.ancestor = e.branch
        and e.sequence <= b.through_sequence
      where e.conversation_id = c.id
        and (e.kind in ('user', 'assistant', 'tool_result') or e.kind = 'note' and e.note_key = 'resumed')
      order by e.sequence desc limit 1) as newest
    join turns t on t.id = newest.turn_id
    left join lateral (
      select a.branch, a.sequence from entries a where a.turn_id = t.id and a.kind = 'assistant'
      order by a.call_number desc limit 1) as answer on true
    where c.id = ${conversationId} and ${wanted}
    order by newest.sequence desc`;
}
