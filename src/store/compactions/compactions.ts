import type {
  CompactionForm,
  CompactionPlan,
  CompactionReason,
  PlanPart,
  WindowBreakdown,
} from '../../context/plan/plan.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { NewSummary } from './commit-compaction.ts';
import { getCompaction } from './compaction-rows.ts';
import type { CompactionRow } from './compaction-rows.ts';
import type { Database } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { consumeCommands } from '../messages/waiting.ts';
import { insertPlan, requireHead } from './store-plan.ts';
import { writeAsTurn } from '../database/transaction.ts';

export { commitCompaction } from './commit-compaction.ts';
export type { CommitCompactionRequest, NewSummary } from './commit-compaction.ts';
export { getCompaction } from './compaction-rows.ts';
export type { CompactionRow } from './compaction-rows.ts';
export { storePlan } from './store-plan.ts';

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

export async function readSummaryText(
  sql: Database,
  compactionId: string,
): Promise<{ readonly text: string; readonly finishedAt: string } | null> {
  const [row] = await sql<{ text: string; finishedAt: string }[]>`
    select summary as text, iso_time(finished_at) as "finishedAt" from compactions
    where id = ${compactionId} and status = 'committed' and summary is not null`;
  return row ?? null;
}

export interface SummaryRow {
  readonly compactionId: string;
  /** Counts the conversation's committed compactions, from 1. */
  readonly number: number;
  readonly form: CompactionForm;
  readonly reason: CompactionReason;
  readonly preset: string;
  readonly text: string | null;
  readonly sections: NewSummary['sections'];
  /** Titles of the sections that the preset wants to have shown unfolded. */
  readonly openSections: readonly string[];
  readonly files: NewSummary['files'];
  readonly model: string | null;
  readonly promptVersion: string | null;
  /** Last entry that the summary covers, by sequence; `null` for a pass without summary. */
  readonly coveredThroughSequence: number | null;
  readonly firstKeptSequence: number | null;
  readonly operations: number;
  readonly parts: readonly PlanPart[];
  readonly branch: number;
  /** Number of the compaction whose summary it updates; `null` when it updates none. */
  readonly updates: number | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Entries of its branch up to the last one that it covers. */
  readonly entriesCovered: number;
  /** Forms that were planned until this one was committed. */
  readonly tries: number;
  /** Calls that were paid, over all tries. */
  readonly modelCalls: number;
  /** Dollars of these calls; `null` when a price is unknown. */
  readonly cost: number | null;
  /** Tokens of these calls, and of them those read from the provider's cache. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly durationMilliseconds: number;
  /** Of the commit. */
  readonly createdAt: string;
}

/** Committed compactions of a conversation, newest first; with `query` those whose summary has that text (case ignored). */
export async function listSummaries(
  sql: Database,
  request: {
    readonly conversationId: string;
    readonly query?: string;
    /** Default: 100. */
    readonly limit?: number;
    readonly beforeNumber?: number;
  },
): Promise<SummaryRow[]> {
  const { conversationId, query, beforeNumber } = request;
  if (!isId(conversationId)) return [];
  return sql<SummaryRow[]>`
    select c.id as "compactionId", c.number, c.form, c.reason, c.preset, c.summary as text, coalesce(c.sections, '[]') as sections,
      coalesce(c.files, '{"read": [], "modified": []}') as files, c.model, c.prompt_version,
      c.plan -> 'coveredThroughSequence' as "coveredThroughSequence", c.plan -> 'firstKeptSequence' as "firstKeptSequence",
      c.plan -> 'parts' as parts, (select count(*) from compaction_operations o where o.compaction_id = c.id)::int as operations,
      array(
        select s ->> 'title' from turns t, json_array_elements(model_in_force(t) -> 'policy' -> 'summary' -> 'sections') as s
        where t.id = c.turn_id and s ->> 'open' = 'true') as "openSections",
      u.branch, (select p.number from compactions p where p.id = c.previous_id) as updates,
      c.tokens_before, c.tokens_after, u.entries_covered, u.tries,
      u.model_calls, u.cost::float8 as cost, r.input_tokens, r.cache_read_tokens,
      round(extract(epoch from c.finished_at - c.created_at) * 1000)::float8 as "durationMilliseconds",
      iso_time(c.finished_at) as "createdAt"
    from compactions c join summaries u on u.compaction_id = c.id
    cross join lateral (
      select coalesce(sum(m.input_tokens), 0)::float8 as input_tokens,
        coalesce(sum(m.cache_read_tokens), 0)::float8 as cache_read_tokens
      from compaction_parts p
      left join model_attempts m
        on m.conversation_id = p.conversation_id and m.purpose = 'summary_part' and m.compaction_id = p.compaction_id and m.part = p.number
      where p.compaction_id = c.id and p.kind <> 'flush') r
    where c.conversation_id = ${conversationId} and c.status = 'committed'
      ${beforeNumber === undefined ? sql`` : sql`and c.number < ${beforeNumber}`}
      ${query === undefined ? sql`` : sql`and strpos(lower(c.summary::text), lower(${inJson(query)})) > 0`}
    order by c.number desc limit ${request.limit ?? 100}`;
}

function inJson(query: string): string {
  return JSON.stringify(query).slice(1, -1);
}
