import type { CompactionForm, CompactionPlan, WindowBreakdown } from '../../context/plan/plan.ts';
import type { SummaryLedger } from '../../context/summary/summary-message.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import type { NewPartMemory } from './compaction-parts.ts';
import { getCompaction, requireHead, insertPlan } from './compactions.ts';
import type { Database, Transaction } from '../database/database.ts';
import { writeNote } from '../log/entries.ts';
import type { NewContent, NoteRequest } from '../log/entries.ts';
import { EMPTY_CONTENT, insertEntry } from '../log/entry-writer.ts';
import { measurementsText } from '../log/measurement-columns.ts';
import type { EventDataByKind } from '../log/timeline.ts';
import { writeMemory } from '../memory/memories.ts';
import { jsonText } from '../log/stored-text.ts';
import type { TurnWriter } from '../database/transaction.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { CompactionRow } from './compactions.ts';
import { StoreError } from '../database/errors.ts';
import { consumeCommands } from '../messages/waiting.ts';
import { writeAsTurn } from '../database/transaction.ts';

export interface CommitCompactionRequest {
  readonly turn: TurnReference;
  readonly compactionId: string;
  readonly summary: NewSummary | null;
  /** View right after the commit, without `fixed`: what later sums are added to. The continuation note not included. */
  readonly viewAfter: Measurements;
  /** Tokens by the calibrated estimate, measured as `plan.tokensBefore` was. Refused unless smaller. */
  readonly tokensAfter: number;
  readonly continuation: NewContent | null;
  /** Further notes, chosen by what the view shows then. Default: none. */
  readonly notes?: (open: Transaction) => Promise<readonly NoteRequest[]>;
  readonly memory?: NewPartMemory | null;
  /** Tokens of the view before the summary was shortened to fit; `null` when it fitted. */
  readonly guardedFrom?: number | null;
}

export interface NewSummary {
  readonly text: string;
  /** The block as it stands in the view. */
  readonly measurements: Measurements;
  /** Cumulative. */
  readonly files: SummaryLedger;
  /** `provider/model` that wrote it; `null` for an extractive one. */
  readonly model: string | null;
  readonly promptVersion: string;
}

export type CommittedCompaction =
  /** `headEntryId`: the newest entry now, which the next model call projects. */
  | {
      readonly kind: 'committed';
      readonly headEntryId: string;
      readonly markerEntryId: string;
      readonly tokensAfter: number;
    }
  /** Another call replaced it by a weaker form before. */
  | { readonly kind: 'replanned'; readonly next: CompactionRow }
  /** It failed without a weaker form, or its turn ended. */
  | { readonly kind: 'abandoned' };

/**
 * Commits in one transaction: checks epoch and head, appends the marker entry and the notes; from then on the projection
 * follows the plan. Checks of the table refuse what is not smaller or lacks a summary. Compact commands that wait join it. Repeating
 * it returns what stands.
 * @throws StoreError `stale_epoch`, `head_moved`, `compaction_not_found`
 */
export async function commitCompaction(sql: Database, request: CommitCompactionRequest): Promise<CommittedCompaction> {
  return writeAsTurn(sql, request.turn, async (writer) => {
    const compaction = await getCompaction(writer.sql, request.compactionId);
    const finished = await finishedBefore(writer, compaction);
    if (finished !== null) return finished;
    requireHead(writer, compaction.headEntryId);
    return write(writer, compaction, request);
  });
}

async function finishedBefore(
  { sql, conversation }: TurnWriter,
  compaction: CompactionRow,
): Promise<CommittedCompaction | null> {
  const { status, nextCompactionId, markerEntryId, tokensAfter } = compaction;
  if (status === 'planned') return null;
  if (nextCompactionId !== null) return { kind: 'replanned', next: await getCompaction(sql, nextCompactionId) };
  if (markerEntryId === null || tokensAfter === null) return { kind: 'abandoned' };
  return { kind: 'committed', headEntryId: conversation.headEntryId ?? markerEntryId, markerEntryId, tokensAfter };
}

async function write(
  writer: TurnWriter,
  compaction: CompactionRow,
  request: CommitCompactionRequest,
): Promise<CommittedCompaction> {
  const { sql, turn, conversation } = writer;
  const { compactionId, summary, viewAfter, continuation } = request;
  const number = conversation.compactions + 1;
  const tokensAfter = Math.round(request.tokensAfter);
  // A plan that opens with a marker has appended it already: it is the head that the plan was made for.
  const marker = compaction.plan.opensWithMarker
    ? { id: compaction.headEntryId }
    : await insertEntry(sql, { ...EMPTY_CONTENT, kind: 'compaction', turn, compactionId });
  let { id: headEntryId } =
    continuation === null
      ? marker
      : await insertEntry(sql, {
          ...continuation,
          kind: 'note',
          slot: 'continuation',
          key: `continuation:${compactionId}`,
          turn,
        });
  const [committed] = await sql<{ duration: number }[]>`
    update compactions k set status = 'committed', number = ${number}, marker_entry_id = ${marker.id},
      tokens_after = ${tokensAfter},
      view_after = ${measurementsText(viewAfter)}::measurements, ${summaryColumns(sql, summary)},
      epoch = ${turn.epoch}, finished_at = holdfast_now()
    where id = ${compactionId}
    returning (extract(epoch from finished_at - created_at) * 1000)::float8 as duration`;
  // Usage that was reported before says nothing of the view from here on.
  await sql`
    update conversations c set compactions = ${number}, compaction_id = ${compactionId}, usage_entry_id = null,
      view_offset = ${measurementsText(viewAfter)}::measurements - (
        select e.sums from entries e where e.conversation_id = c.id and e.id = ${marker.id})
    where c.id = ${turn.conversationId}`;
  const { conversationId, turnId } = turn;
  await consumeCommands(sql, { conversationId, kind: 'compact', turnId });
  await flushSummary(writer, request);
  await writer.event(
    'compaction_committed',
    committedEvent(compaction, {
      number,
      requestedForm: await requestedForm(sql, compaction),
      operations: compaction.plan.operations.length,
      tokensAfter: request.tokensAfter,
      guardedFrom: request.guardedFrom ?? null,
      durationMilliseconds: Math.round(committed?.duration ?? 0),
    }),
  );
  const after = { ...writer, conversation: { ...conversation, compactions: number } };
  for (const note of (await request.notes?.(sql)) ?? []) ({ entryId: headEntryId } = await writeNote(after, note));
  return { kind: 'committed', headEntryId, markerEntryId: marker.id, tokensAfter };
}

/** What the timeline tells of a commit. */
export function committedEvent(
  { compactionId, form, formNumber, reason, plan, tokensBefore }: CommittedPlan,
  commit: Pick<
    EventDataByKind['compaction_committed'],
    'number' | 'requestedForm' | 'operations' | 'tokensAfter' | 'guardedFrom' | 'durationMilliseconds'
  >,
): EventDataByKind['compaction_committed'] {
  return {
    compactionId,
    form,
    formNumber,
    fallback: formNumber > 1,
    reason,
    willRetry: reason === 'overflow',
    messagesRemoved: plan.droppedMessages,
    coveredThroughSequence: plan.coveredThroughSequence,
    firstKeptSequence: plan.firstKeptSequence,
    tokensBefore,
    tokensSaved: tokensBefore - commit.tokensAfter,
    messagesChanged: plan.messagesChanged ?? null,
    proactive: plan.proactive ?? null,
    ...commit,
  };
}

type CommittedPlan = Pick<CompactionRow, 'compactionId' | 'form' | 'formNumber' | 'reason' | 'tokensBefore'> & {
  readonly plan: Pick<
    CompactionPlan,
    'droppedMessages' | 'coveredThroughSequence' | 'firstKeptSequence' | 'messagesChanged' | 'proactive'
  >;
};

/** The form that the pass began with: `form` names the one that it came down to. */
async function requestedForm(
  sql: Transaction,
  { compactionId, form, formNumber }: CompactionRow,
): Promise<CompactionForm> {
  if (formNumber === 1) return form;
  const [first] = await sql<{ form: CompactionForm }[]>`
    with recursive forms as (
      select c.form, c.replaces_id from compactions c where c.id = ${compactionId}
      union all
      select c.form, c.replaces_id from compactions c join forms f on c.id = f.replaces_id
    )
    select form from forms where replaces_id is null`;
  return first?.form ?? form;
}

function summaryColumns(sql: Transaction, summary: NewSummary | null) {
  return sql`
    summary = ${summary === null ? null : jsonText(summary.text)}::text::json,
    summary_measurements = ${summary === null ? null : measurementsText(summary.measurements)}::measurements,
    files = ${summary === null ? null : jsonText(summary.files)}::text::json,
    model = ${summary?.model ?? null}, prompt_version = ${summary?.promptVersion ?? null}`;
}

async function flushSummary(
  { sql, turn, event }: TurnWriter,
  { memory, summary, compactionId }: CommitCompactionRequest,
): Promise<void> {
  if (memory === undefined || memory === null || summary === null) return;
  const { conversationId } = turn;
  await writeMemory(sql, { ...memory, kind: 'summary', text: summary.text, origin: 'model', conversationId });
  await event('memory_flushed', { compactionId, part: null, characters: summary.text.length });
}

/**
 * Marks a plan as failed and stores the next weaker form in the same transaction. Repeating it, or
 * racing with another call, returns the form that was stored first.
 * @throws StoreError `stale_epoch`, `head_moved`, `wrong_state` (committed, or ended without a next form)
 */
export async function replanCompaction(
  sql: Database,
  request: {
    readonly turn: TurnReference;
    readonly compactionId: string;
    /** Code of why the form failed: `not_smaller`, `summary_failed`, `over_target` … */
    readonly failure: string;
    readonly nextCompactionId: string;
    readonly plan: CompactionPlan;
  },
): Promise<CompactionRow> {
  const { turn, compactionId, failure, nextCompactionId, plan } = request;
  return writeAsTurn(sql, turn, async (writer) => {
    const failed = await getCompaction(writer.sql, compactionId);
    if (failed.nextCompactionId !== null) return getCompaction(writer.sql, failed.nextCompactionId);
    if (failed.status !== 'planned') {
      throw new StoreError('wrong_state', `compaction ${compactionId} is ${failed.status} and cannot be replaced`);
    }
    requireHead(writer, failed.headEntryId);
    await writer.sql`
      update compactions set status = 'failed', failure = ${failure}, finished_at = holdfast_now(), epoch = ${turn.epoch}
      where id = ${compactionId}`;
    await writer.event('compaction_form_failed', { compactionId, form: failed.form, failure, nextForm: plan.form });
    await insertPlan(writer, {
      turn,
      plan,
      compactionId: nextCompactionId,
      callNumber: failed.callNumber,
      reason: failed.reason,
      preset: failed.preset,
      headEntryId: failed.headEntryId,
      focus: failed.focus,
      hook: { details: failed.details, contextLines: failed.contextLines, summary: null },
      formNumber: failed.formNumber + 1,
      replaces: compactionId,
    });
    return getCompaction(writer.sql, nextCompactionId);
  });
}

/**
 * Ends a plan without effect: `failed` when no weaker form is left (a compact command is served by
 * that), `abandoned` when it is no longer wanted. Nothing happens when it is finished already.
 */
export async function endCompaction(
  sql: Database,
  request: {
    readonly turn: TurnReference;
    readonly compactionId: string;
    readonly status: 'failed' | 'abandoned';
    readonly failure: string;
    /** What fills the window, when the turn cannot go on without a compaction: the timeline says so. Default: it can. */
    readonly exhausted?: WindowBreakdown | null;
  },
): Promise<void> {
  const { turn, compactionId, status, failure, exhausted = null } = request;
  const { conversationId, turnId } = turn;
  await writeAsTurn(sql, turn, async (writer) => {
    const { count } = await writer.sql`
      update compactions set status = ${status}, failure = ${failure}, finished_at = holdfast_now(), epoch = ${turn.epoch}
      where id = ${compactionId} and conversation_id = ${conversationId} and status = 'planned'`;
    if (count === 0) return;
    if (status === 'failed') await consumeCommands(writer.sql, { conversationId, kind: 'compact', turnId });
    const kind = status === 'failed' ? 'compaction_form_failed' : 'compaction_abandoned';
    await writer.event(kind, { compactionId, failure });
    if (exhausted !== null) {
      await writer.event('compaction_exhausted', { compactionId, failure, tokens: exhausted.total, ...exhausted });
    }
  });
}
