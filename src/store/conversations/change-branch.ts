import type { FileLists } from '../../context/summary/summary-message.ts';
import { NO_MEASUREMENTS } from '../../context/log/measurements.ts';
import { measureView } from '../../context/view/view-arrangement.ts';
import type { TurnOutcome, TurnReference } from '../../turn/turn-reference.ts';
import type { BranchCommand, BranchRefusal } from './branch-commands.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import type { NewContent } from '../log/entries.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { measurementsText } from '../log/measurement-columns.ts';
import { readViewOutline } from '../compactions/fit-check.ts';
import { jsonText } from '../log/stored-text.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { TurnWriter } from '../database/transaction.ts';

export interface NewBranchSummary extends NewContent {
  readonly files: FileLists;
  readonly model: string | null;
  readonly promptVersion: string;
}

/**
 * Carries the command out, in one transaction: begins the new branch or goes to the existing one, appends the summary of
 * what was left, and sets what the next view is measured from. A command that this turn has carried out changes nothing.
 * @throws StoreError `stale_epoch`
 */
export async function changeBranch(
  sql: Database,
  turn: TurnReference,
  command: BranchCommand,
  summary: NewBranchSummary | null,
): Promise<void> {
  await writeAsTurn(sql, turn, async (writer) => {
    if (!(await consume(writer, command.messageId))) return;
    const branch = command.kind === 'switch' ? command.to.branch : await beginBranch(writer.sql, turn, command);
    await writer.sql`
      update conversations set branch = ${branch}, head_entry_id = ${command.to.headEntryId}, usage_entry_id = null
      where id = ${turn.conversationId}`;
    await setViewOffset(writer, { ...command.to, branch });
    const entryId = summary === null ? null : await appendSummary(writer, command, summary);
    if (summary !== null) await endPlan(writer);
    await writer.event('branch_changed', {
      kind: command.kind,
      fromBranch: command.from.branch,
      branch,
      ancestorSequence: command.ancestorSequence,
      headEntryId: command.to.headEntryId,
      summaryEntryId: entryId,
    });
  });
}

/** `false`: it was carried out already, by an attempt whose reply was lost. */
async function consume({ sql, turn }: TurnWriter, messageId: string): Promise<boolean> {
  const { count } = await sql`
    update messages set turn_id = ${turn.turnId}, consumed_at = holdfast_now()
    where conversation_id = ${turn.conversationId} and id = ${messageId} and consumed_at is null`;
  return count > 0;
}

/** The rule that table branches describes: the ancestor's rows that begin before the fork, cut there, and its own. */
async function beginBranch(
  sql: Transaction,
  { conversationId }: TurnReference,
  { to }: BranchCommand,
): Promise<number> {
  const [row] = await sql<{ branch: number }[]>`
    select max(branch) + 1 as branch from branches where conversation_id = ${conversationId}`;
  const branch = row?.branch ?? 1;
  await sql`
    insert into branches (conversation_id, branch, ancestor, through_sequence)
    select b.conversation_id, ${branch}::integer, b.ancestor, least(b.through_sequence, ${to.headSequence}::integer)
    from branches b
    where b.conversation_id = ${conversationId} and b.branch = ${to.branch} and exists (
      select from entries e where e.conversation_id = b.conversation_id and e.branch = b.ancestor
        and e.sequence <= least(b.through_sequence, ${to.headSequence}::integer))
    union all
    select ${conversationId}::uuid, ${branch}::integer, ${branch}::integer, 2147483647`;
  return branch;
}

/** The next view is its sums and this offset: what compactions in force there make of the path. */
async function setViewOffset(
  writer: TurnWriter,
  place: { branch: number; headEntryId: string | null; headSequence: number },
) {
  const { sql, turn, conversation } = writer;
  const { conversationId } = turn;
  if (place.headEntryId === null) {
    await sql`update conversations set view_offset = no_measurements() where id = ${conversationId}`;
    return;
  }
  const [over] = await sql<{ compactionsOver: number }[]>`
    select compactions_over from conversations where id = ${conversationId}`;
  const outline = await readViewOutline(sql, {
    conversationId,
    branch: place.branch,
    headEntryId: place.headEntryId,
    headSequence: place.headSequence,
    compactions: conversation.compactions,
    compactionsOver: over?.compactionsOver ?? 0,
  });
  const view = measureView({ ...outline, fixed: NO_MEASUREMENTS });
  await sql`
    update conversations c
    set view_offset = ${measurementsText(view)}::measurements - (
      select e.sums from entries e where e.conversation_id = c.id and e.id = ${place.headEntryId})
    where c.id = ${conversationId}`;
}

/** The summary that was planned is an entry now. One that was written for another branch had no plan. */
async function endPlan({ sql, turn }: TurnWriter): Promise<void> {
  await sql`
    update compactions set status = 'written', finished_at = holdfast_now(), epoch = ${turn.epoch}
    where conversation_id = ${turn.conversationId} and status = 'planned'`;
}

async function appendSummary(
  { sql, turn }: TurnWriter,
  { from, ancestorSequence }: BranchCommand,
  summary: NewBranchSummary,
): Promise<string> {
  const { content, measurements } = summary;
  const { id } = await insertEntry(sql, { kind: 'branch_summary', turn, content, measurements });
  await sql`
    insert into branch_summaries (entry_id, conversation_id, left_branch, from_sequence, through_sequence, files, model,
      prompt_version)
    values (${id}, ${turn.conversationId}, ${from.branch}, ${ancestorSequence + 1}, ${from.headSequence},
      ${jsonText(summary.files)}::text::json, ${summary.model}, ${summary.promptVersion})`;
  return id;
}

/** The command has nothing to act on: it counts as served, and the timeline says why. */
export async function refuseBranchCommand(
  sql: Database,
  turn: TurnReference,
  { messageId, refusal }: { readonly messageId: string; readonly refusal: BranchRefusal },
): Promise<void> {
  await writeAsTurn(sql, turn, async (writer) => {
    if (await consume(writer, messageId)) await tellRefusal(writer, messageId, refusal);
  });
}

/** Why the newest fork or switch that the turn took was refused; `null`: it was carried out. */
export async function readRefusal(
  sql: Queries,
  { conversationId, turnId }: TurnReference,
): Promise<BranchRefusal | null> {
  const [told] = await sql<{ reason: BranchRefusal | null }[]>`
    select case v.kind when 'branch_refused' then v.data ->> 'reason' end as reason from events v
    where v.conversation_id = ${conversationId} and v.turn_id = ${turnId}
      and v.kind in ('turn_begun', 'branch_changed', 'branch_refused')
    order by v.number desc limit 1`;
  return told?.reason ?? null;
}

export interface BranchCommandEnd {
  /** `none`: the turn was for something else. */
  readonly kind: 'none' | 'changed' | 'not_changed';
  readonly takenBack: number;
}

/**
 * A turn for a change of branch that ends without it (stopped, refused, failed) has served it all the same: another such turn
 * would begin forever, and no message would ever be taken.
 * @param stops those that the turn takes
 */
export async function endBranchCommand(
  writer: TurnWriter,
  outcome: TurnOutcome,
  stops: readonly string[],
): Promise<BranchCommandEnd> {
  const { sql, turn } = writer;
  const [command] = await sql<{ id: string; served: boolean; changed: boolean }[]>`
    select m.id, m.consumed_at is not null as served, (
        select v.kind = 'branch_changed' from events v
        where v.conversation_id = t.conversation_id and v.turn_id = t.id and v.kind in ('turn_begun', 'branch_changed')
        order by v.number desc limit 1) as changed
    from messages m join turns t on t.id = ${turn.turnId}
    where m.conversation_id = ${turn.conversationId} and m.kind in ('fork', 'switch')
      and (m.turn_id = t.id or (m.consumed_at is null and m.sent_epoch < t.epoch))
    order by m.consumed_at nulls last, m.position limit 1`;
  if (command === undefined) return { kind: 'none', takenBack: 0 };
  if (command.changed) return { kind: 'changed', takenBack: 0 };
  if (!command.served && (await consume(writer, command.id))) await tellRefusal(writer, command.id, `turn_${outcome}`);
  return { kind: 'not_changed', takenBack: await takeBackStopped(writer, command.id, stops) };
}

/**
 * What was sent behind a change of branch was meant for the other branch. With a stop behind it nobody waits for it any more: it is
 * taken back as if it had been sent with the command, and its sender is told how that ended.
 */
async function takeBackStopped(
  { sql, turn }: TurnWriter,
  commandId: string,
  stops: readonly string[],
): Promise<number> {
  const { count } = await sql`
    update messages m set follows_id = ${commandId}, consumed_at = holdfast_now()
    where m.conversation_id = ${turn.conversationId} and m.consumed_at is null and m.kind = 'message'
      and m.position > (
        select f.position from messages f where f.conversation_id = m.conversation_id and f.id = ${commandId})
      and m.position <= (
        select max(s.position) from messages s
        where s.conversation_id = m.conversation_id and s.id = any(${[...stops]}))`;
  return count;
}

/** The message that was to be answered behind the fork is taken back: where it would be answered now nobody asked for it. */
async function tellRefusal({ sql, turn, event }: TurnWriter, messageId: string, reason: string): Promise<void> {
  await sql`
    update messages set consumed_at = holdfast_now()
    where conversation_id = ${turn.conversationId} and follows_id = ${messageId} and consumed_at is null`;
  await event('branch_refused', { messageId, reason });
}
