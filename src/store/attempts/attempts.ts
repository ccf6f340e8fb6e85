import type { WindowFill } from '../../context/plan/plan.ts';
import type { ReportedUsage } from '../../models/model-client.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { attemptColumn, isReplaced, replacedAttempt } from './activity-attempts.ts';
import type { ActivityAttempt } from './activity-attempts.ts';
import type { Database, Fragment, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { observePaid } from '../log/observe-events.ts';
import { jsonText, plainText } from '../log/stored-text.ts';
import type { EventDataByKind } from '../log/timeline.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { Writer } from '../database/transaction.ts';
import { addUsage } from './usage.ts';

export interface ModelCallReference {
  readonly turn: TurnReference;
  readonly callNumber: number;
}

export type PaidCall = { readonly turn: TurnReference } & (
  | { readonly purpose: 'step'; readonly callNumber: number }
  | { readonly purpose: 'summary_part'; readonly compactionId: string; readonly part: number }
);

/** In the key of the ledger, whose columns are never null. */
const NO_COMPACTION = '00000000-0000-0000-0000-000000000000';

export function stepOf({ turn, callNumber }: ModelCallReference): PaidCall {
  return { turn, purpose: 'step', callNumber };
}

/** Condition on `model_attempts m`: the attempts of the call. */
export function ofCall(sql: Queries, call: PaidCall): Fragment {
  const { turnId, conversationId } = call.turn;
  const ofConversation = sql`m.conversation_id = ${conversationId}`;
  switch (call.purpose) {
    case 'step':
      return sql`${ofConversation} and m.turn_id = ${turnId} and m.call_number = ${call.callNumber} and m.purpose = 'step'`;
    case 'summary_part':
      return sql`${ofConversation} and m.purpose = 'summary_part' and m.compaction_id = ${call.compactionId} and m.part = ${call.part}`;
  }
}

function nameOf(call: PaidCall): string {
  switch (call.purpose) {
    case 'step':
      return `call ${call.callNumber} of turn ${call.turn.turnId}`;
    case 'summary_part':
      return `part ${call.part} of compaction ${call.compactionId}`;
  }
}

export const EMPTY_ANSWER = 'empty_answer';

export interface Attempts {
  /** Number of the newest; 0 before the first. */
  readonly newest: number;
  /** Failures of the model: a worker's death, a rate limit or an outage is none. */
  readonly failures: number;
  readonly emptyAnswers: number;
  /** Rate limits and outages: they pass by themselves and use up no retry. */
  readonly refusals: number;
  readonly unreported: number;
  /** The newest attempt neither answered nor failed. */
  readonly isNewestOpen: boolean;
  /** The attempt whose answer is in the log; `null`: none. */
  readonly answered: number | null;
  readonly isReplaced: boolean;
  /** Number of the call at which the turn last gave a model up; 0: it did not. */
  readonly givenUpAt: number;
}

/** @param by who asks, to learn whether its activity has a newer attempt. Default: that is not asked */
export async function readAttempts(sql: Queries, call: PaidCall, by?: ActivityAttempt): Promise<Attempts> {
  const replaces = by === undefined ? sql`false` : isReplaced(sql, sql`m.registered_by`, by);
  const [row] = await sql<Attempts[]>`
    select coalesce(max(m.attempt), 0) as newest,
      (count(*) filter (where m.failure_kind in ('retryable', 'permanent')))::int as failures,
      (count(*) filter (where m.failure_evidence = ${EMPTY_ANSWER}))::int as "emptyAnswers",
      (count(*) filter (where m.failure_kind in ('rate_limited', 'unreachable')))::int as refusals,
      (count(*) filter (where m.state = 'registered'))::int as unreported,
      coalesce(max(m.attempt) filter (where m.state = 'registered') = max(m.attempt), false) as "isNewestOpen",
      max(m.attempt) filter (where m.entry_id is not null) as answered,
      coalesce(bool_or(${replaces}), false) as "isReplaced",
      coalesce((select (t.fallbacks -> -1 ->> 'callNumber')::int from turns t where t.id = ${call.turn.turnId}), 0)
        as "givenUpAt"
    from model_attempts m where ${ofCall(sql, call)}`;
  if (row === undefined) throw new TypeError('an aggregate returns one row');
  return row;
}

export interface RegisteredAttempt extends Pick<Attempts, 'failures' | 'unreported'> {
  readonly attempt: number;
}

export async function registerAttempt(
  sql: Transaction,
  call: PaidCall,
  request: NewAttempt,
): Promise<RegisteredAttempt> {
  const { newest, failures, unreported, isReplaced: replaced } = await readAttempts(sql, call, request.by);
  if (replaced) throw replacedCall(call, request.by);
  const attempt = newest + 1;
  await insertAttempt(sql, call, attempt, request);
  return { attempt, failures, unreported };
}

export function replacedCall(call: PaidCall, by: ActivityAttempt): StoreError {
  return replacedAttempt(nameOf(call), by);
}

export interface NewAttempt {
  readonly by: ActivityAttempt;
  readonly model: string;
  /** Input tokens of the request: what the attempt is taken to have cost when it never reports. */
  readonly estimatedTokens: number;
  readonly view?: {
    readonly headEntryId: string;
    readonly compactions: number;
    readonly fingerprint: string;
    readonly rendererVersion: number;
    readonly fill?: WindowFill;
  };
}

export async function insertAttempt(
  sql: Transaction,
  call: PaidCall,
  attempt: number,
  { by, model, estimatedTokens, view }: NewAttempt,
): Promise<void> {
  const { turn, purpose } = call;
  const { compactionId, part } = purpose === 'summary_part' ? call : { compactionId: NO_COMPACTION, part: 0 };
  const callNumber = purpose === 'step' ? call.callNumber : 0;
  await sql`
    insert into model_attempts (turn_id, purpose, call_number, compaction_id, part, attempt, conversation_id, epoch, model,
      head_entry_id, compactions, view_fingerprint, renderer_version, fill, estimated_tokens, registered_by)
    values (${turn.turnId}, ${purpose},
      coalesce((select k.call_number from compactions k where k.id = ${compactionId}), ${callNumber}),
      ${compactionId}, ${part}, ${attempt},
      ${turn.conversationId}, ${turn.epoch}, ${model}, ${view?.headEntryId ?? null}, ${view?.compactions ?? null},
      ${view?.fingerprint ?? null}, ${view?.rendererVersion ?? null},
      ${view?.fill === undefined ? null : jsonText(view.fill)}::text::json, ${Math.round(estimatedTokens)},
      ${attemptColumn(sql, by)})`;
}

export interface AttemptEnd {
  readonly attempt: number;
  readonly usage: ReportedUsage | null;
  /** Dollars; `null` when the price is unknown, 0 for a call that was refused before it cost anything. */
  readonly cost: number | null;
  readonly durationMilliseconds: number | null;
  /** Absent: its answer is kept. */
  readonly failure?: {
    /** `retryable` and `permanent` use up a retry. */
    readonly kind: EventDataByKind['model_call_failed']['kind'];
    /** Code; never the vendor's words. */
    readonly evidence: string;
    readonly message?: string | null;
    /** HTTP status. */
    readonly status?: number | null;
  };
}

export function endColumns(sql: Queries, { epoch }: TurnReference, end: Omit<AttemptEnd, 'attempt'>): Fragment {
  const { usage, failure } = end;
  const { kind = null, evidence, message = null } = failure ?? {};
  return sql`
    state = ${failure === undefined ? 'answered' : 'failed'}, failure_kind = ${kind},
    failure_evidence = ${evidence === undefined ? null : plainText(evidence)},
    failure_message = ${message === null ? null : jsonText(message)}::text::json,
    input_tokens = ${usage?.input ?? null}, cache_read_tokens = ${usage?.cacheRead ?? null},
    cache_write_tokens = ${usage?.cacheWrite ?? null}, output_tokens = ${usage?.output ?? null},
    cost = ${end.cost}, duration_milliseconds = ${end.durationMilliseconds === null ? null : Math.round(end.durationMilliseconds)},
    epoch = ${epoch}, ended_at = holdfast_now()`;
}

/** Ends an attempt that is open, and adds its cost to turn and conversation. @returns `false`: it had ended before */
export async function endAttempt({ sql, turn }: Pick<Writer, 'sql' | 'turn'>, call: PaidCall, end: AttemptEnd) {
  const { usage, cost } = end;
  const { count } = await sql`
    update model_attempts m set ${endColumns(sql, turn, end)}
    where ${ofCall(sql, call)} and m.attempt = ${end.attempt} and m.state = 'registered'`;
  // Nothing reported and nothing charged: the call was refused before it cost anything.
  if (count > 0 && (usage !== null || cost !== 0)) await addUsage(sql, call.turn, usage, cost);
  return count > 0;
}

/** A try without an answer that is kept. Default: it was not billed. */
export type FailedTry = Pick<AttemptEnd, 'attempt'> &
  Required<Pick<AttemptEnd, 'failure'>> &
  Partial<Pick<AttemptEnd, 'usage' | 'cost' | 'durationMilliseconds'>>;

/** Written in the transaction that notes a failure. */
export type Beside = (open: Transaction, tries: Attempts) => Promise<void>;

/**
 * Notes how a try failed and what it cost, an older one too, since it was paid. A repeated note changes nothing.
 */
export async function recordFailedTry(
  sql: Database,
  call: PaidCall,
  failed: FailedTry,
  beside: Beside = () => Promise.resolve(),
): Promise<Attempts> {
  return writeAsTurn(sql, call.turn, async (writer) => {
    const { attempt, failure } = failed;
    const isNews = await endAttempt(writer, call, { usage: null, cost: 0, durationMilliseconds: null, ...failed });
    if (isNews && call.purpose === 'step') {
      const { kind, status = null } = failure;
      await writer.event('model_call_failed', { callNumber: call.callNumber, attempt, kind, status });
    }
    const tries = await readAttempts(writer.sql, call);
    await beside(writer.sql, tries);
    return tries;
  });
}

/**
 * The newest attempt reports. Those before it that never did sent their requests, so they count as paid, as much as this one: too
 * much rather than too little, since limits are checked against it.
 * @returns `repeated`: it reported the same before; `superseded`: a newer attempt has begun, or it was given up: the cost is
 *   kept, and nothing else may be stored
 */
export async function reportAttempt(
  writer: Pick<Writer, 'sql' | 'turn' | 'afterCommit'>,
  call: PaidCall,
  end: AttemptEnd,
): Promise<'ended' | 'repeated' | 'superseded'> {
  const standing = await standingOf(writer.sql, call, end);
  switch (standing) {
    case 'repeated':
      return standing;
    case 'superseded':
      await endAttempt(writer, call, { ...end, failure: { kind: 'superseded', evidence: 'superseded' } });
      return standing;
    case 'newest':
      await endAttempt(writer, call, end);
      if (end.usage !== null || end.cost !== 0) await payUnreported(writer, call, end);
      writer.afterCommit(() => observePaid(call.purpose, end));
      return 'ended';
  }
}

/** Whether an attempt may still store what it brought. @throws StoreError `model_call_not_found` */
export async function standingOf(
  sql: Transaction,
  call: PaidCall,
  { attempt, failure }: Pick<AttemptEnd, 'attempt' | 'failure'>,
): Promise<'newest' | 'repeated' | 'superseded'> {
  const [row] = await sql<{ newest: number; state: string | null; answered: boolean }[]>`
    select coalesce(max(m.attempt), 0) as newest, max(m.state) filter (where m.attempt = ${attempt}) as state,
      coalesce(bool_or(m.state = 'answered' and m.attempt <> ${attempt}), false) as answered
    from model_attempts m where ${ofCall(sql, call)}`;
  const { newest = 0, state = null, answered = false } = row ?? {};
  if (state === null)
    throw new StoreError('model_call_not_found', `attempt ${attempt} of ${nameOf(call)} was never registered`);
  if (state === (failure === undefined ? 'answered' : 'failed')) return 'repeated';
  return newest > attempt || answered || state !== 'registered' ? 'superseded' : 'newest';
}

export function supersededAttempt(call: PaidCall, { attempt }: Pick<AttemptEnd, 'attempt'>): StoreError {
  const what = `attempt ${attempt} of ${nameOf(call)}`;
  return new StoreError('superseded_attempt', `${what} was replaced by a newer one or given up`);
}

/** An aborted attempt was paid in vain when the call is made again. */
export async function payUnreported(
  { sql, turn }: Pick<Writer, 'sql' | 'turn'>,
  call: PaidCall,
  { attempt, usage, cost }: Pick<AttemptEnd, 'attempt' | 'usage' | 'cost'>,
): Promise<void> {
  if (attempt === 1) return;
  const before = sql`${ofCall(sql, call)} and m.attempt < ${attempt}`;
  const lost = { kind: 'lost', evidence: 'worker_lost' } as const;
  const { count } = await sql`
    update model_attempts m set ${endColumns(sql, turn, { usage, cost, durationMilliseconds: null, failure: lost })}
    where ${before} and m.state = 'registered'`;
  await sql`
    update model_attempts m set failure_kind = 'lost', failure_evidence = 'worker_lost', epoch = ${turn.epoch}
    where ${before} and m.failure_kind = 'aborted'`;
  for (let each = 0; each < count; each += 1) await addUsage(sql, call.turn, usage, cost);
}
