import type { PlanPart } from '../../context/plan/plan.ts';
import type { SummarizeInput } from '../../turn/activity-values.ts';
import { readAttempts, registerAttempt, reportAttempt, supersededAttempt } from '../attempts/attempts.ts';
import type { AttemptEnd, NewAttempt, PaidCall, RegisteredAttempt } from '../attempts/attempts.ts';
import { getCompaction, readPreviousSummary } from './compactions.ts';
import type { CompactionRow, PreviousSummary } from './compactions.ts';
import type { Database, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { writeMemory } from '../memory/memories.ts';
import type { MemoryScope } from '../memory/memories.ts';
import { jsonText } from '../log/stored-text.ts';
import { writeAsTurn } from '../database/transaction.ts';

export type PartReference = SummarizeInput;

export interface PartRow {
  readonly part: PlanPart;
  readonly state: 'planned' | 'written' | 'failed';
  readonly failures: number;
  readonly text: string | null;
  readonly promptVersion: string | null;
  /** `provider/model` that wrote the text; `null` without a model. */
  readonly model: string | null;
}

export interface PartSource {
  readonly compaction: CompactionRow;
  readonly row: PartRow;
  readonly previousSummary: PreviousSummary | null;
  /** Merge only: the parts of earlier waves, in order. */
  readonly parts: readonly PartRow[];
}

export async function readPart(sql: Database, { compactionId, part }: PartReference): Promise<PartSource> {
  const [compaction, parts] = await Promise.all([getCompaction(sql, compactionId), listParts(sql, compactionId)]);
  const row = parts.find((each) => each.part.number === part);
  if (row === undefined) throw partNotFound(compactionId, part);
  // Of a part, the plan alone knows which piece of an entry it reads.
  const piece = compaction.plan.parts.find((each) => each.number === part)?.piece;
  return {
    compaction,
    row: piece === undefined ? row : { ...row, part: { ...row.part, piece } },
    previousSummary: await readPreviousSummary(sql, compaction.previousCompactionId),
    parts:
      row.part.kind === 'merge'
        ? parts.filter((each) => each.part.wave < row.part.wave && each.part.kind !== 'flush')
        : [],
  };
}

function partNotFound(compactionId: string, part: number): StoreError {
  return new StoreError('compaction_not_found', `compaction ${compactionId} has no part ${part}`);
}

export async function listParts(sql: Queries, compactionId: string): Promise<PartRow[]> {
  return sql<PartRow[]>`
    select json_strip_nulls(json_build_object('number', number, 'wave', wave, 'kind', kind, 'fromSequence', from_sequence,
        'toSequence', to_sequence, 'inputTokens', input_estimate, 'maximumOutput', maximum_output)) as part,
      state, text, prompt_version, model, (
        select count(*)::int from model_attempts m
        where m.conversation_id = p.conversation_id and m.purpose = 'summary_part' and m.compaction_id = p.compaction_id and m.part = p.number and m.failure_kind in ('retryable', 'permanent')) as failures
    from compaction_parts p where compaction_id = ${compactionId} order by number`;
}

/**
 * Registers an attempt: the number that `storePartText` and `recordPartFailure` must name. A part that is written says so: no
 * model needs to be called.
 * @throws StoreError `stale_epoch`, `wrong_state` (the compaction is finished), `superseded_attempt` (a newer attempt of the activity
 *   has registered)
 */
export async function registerPartAttempt(
  sql: Database,
  reference: PartReference,
  request: NewAttempt,
): Promise<RegisteredAttempt | 'written'> {
  const { turn, compactionId } = reference;
  return writeAsTurn(sql, turn, async ({ sql: open }) => {
    const { state, status } = await requirePart(open, reference);
    if (state === 'written') return state;
    if (status !== 'planned') throw finished(compactionId, status);
    return registerAttempt(open, partCallOf(reference), request);
  });
}

function finished(compactionId: string, status: string): StoreError {
  return new StoreError('wrong_state', `compaction ${compactionId} is ${status}`);
}

export function partCallOf({ turn, compactionId, part }: PartReference): PaidCall {
  return { turn, purpose: 'summary_part', compactionId, part };
}

async function requirePart(
  sql: Queries,
  { compactionId, part }: PartReference,
): Promise<{ readonly state: PartRow['state']; readonly status: string }> {
  const [row] = await sql<{ state: PartRow['state']; status: string }[]>`
    select p.state, k.status from compaction_parts p join compactions k on k.id = p.compaction_id
    where p.compaction_id = ${compactionId} and p.number = ${part}`;
  if (row === undefined) throw partNotFound(compactionId, part);
  return row;
}

export type NewPartMemory = MemoryScope & { readonly id: string; readonly sourceId: string };

export interface PartText {
  readonly text: string;
  readonly promptVersion: string;
  readonly model?: string | null;
  /** The attempt that ended with it, or that failed and made it necessary; `null`: no model was asked. */
  readonly call: AttemptEnd | null;
  readonly memory?: NewPartMemory | null;
  /** Secrets that were left out of what the model read and of the text. Default: none. */
  readonly redacted?: number;
}

/**
 * Stores the text of a part. The same attempt again changes nothing.
 * @throws StoreError `stale_epoch`, `superseded_attempt`
 */
export async function storePartText(sql: Database, request: PartReference & PartText): Promise<void> {
  const { turn, compactionId, part, text, call } = request;
  const { memory = null, redacted: count = 0, model = null } = request;
  const isSuperseded = await writeAsTurn(sql, turn, async (writer) => {
    const { state, status } = await requirePart(writer.sql, request);
    if (call === null && status !== 'planned') throw finished(compactionId, status);
    if (call !== null && (await reportAttempt(writer, partCallOf(request), call)) === 'superseded') return true;
    if (state === 'written') return false;
    await writer.sql`
      update compaction_parts set state = 'written', text = ${jsonText(text)}::text::json,
        prompt_version = ${request.promptVersion}, model = ${model}, epoch = ${turn.epoch}
      where compaction_id = ${compactionId} and number = ${part}`;
    if (memory !== null) {
      const { conversationId } = turn;
      await writeMemory(writer.sql, { ...memory, kind: 'summary', text, origin: 'model', conversationId });
      await writer.event('memory_flushed', { compactionId, part, characters: text.length });
    }
    // With the text, so that no retry tells it again: a user sees that something was left out, the originals alone have it.
    if (count > 0) await writer.event('secrets_redacted', { compactionId, part, count });
    const attempt = call?.attempt ?? 0;
    await writer.event('compaction_part_written', { compactionId, part, attempt, characters: text.length });
    return false;
  });
  if (isSuperseded && call !== null) throw supersededAttempt(partCallOf(request), call);
}

/**
 * Counts a failure of the model (not of the worker or the network) and returns how many there were.
 * The same attempt counts once.
 * @throws StoreError `stale_epoch`, `superseded_attempt`
 */
export async function recordPartFailure(
  sql: Database,
  request: PartReference & {
    readonly call: AttemptEnd & Required<Pick<AttemptEnd, 'failure'>>;
    readonly final: boolean;
  },
): Promise<{ readonly failures: number }> {
  const { turn, compactionId, part, call, final } = request;
  const paidCall = partCallOf(request);
  const failed = await writeAsTurn(sql, turn, async (writer) => {
    const reported = await reportAttempt(writer, paidCall, call);
    if (reported === 'superseded') return null;
    const { failures } = await readAttempts(writer.sql, paidCall);
    if (reported === 'repeated') return { failures };
    if (final) {
      await writer.sql`
        update compaction_parts set state = 'failed', epoch = ${turn.epoch}
        where compaction_id = ${compactionId} and number = ${part} and state = 'planned'`;
    }
    const { attempt, failure } = call;
    await writer.event('compaction_part_failed', { compactionId, part, attempt, failure: failure.evidence, failures });
    return { failures };
  });
  if (failed === null) throw supersededAttempt(paidCall, call);
  return failed;
}

/** The newest summary that was flushed to memory before a pass; `null` when there is none. */
export async function readNewestFlush(
  sql: Database,
  conversationId: string,
): Promise<{ readonly millisecondsAgo: number; readonly tokens: number } | null> {
  const [row] = await sql<{ age: number; tokens: number }[]>`
    select (extract(epoch from holdfast_now() - c.created_at) * 1000)::float8 as age, c.tokens_before as tokens
    from compaction_parts p join compactions c on c.id = p.compaction_id
    where c.conversation_id = ${conversationId} and p.kind = 'flush' and p.state = 'written'
      and c.created_at <= holdfast_now()
    order by c.created_at desc limit 1`;
  return row === undefined ? null : { millisecondsAgo: row.age, tokens: row.tokens };
}
