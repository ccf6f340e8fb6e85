import { costOf, estimatedUsage } from '../models/cost.ts';
import type { ReportedUsage } from '../models/model-client.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import { LONGEST_UNSEEN_WAIT_MILLISECONDS } from '../turn/limits.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import { attemptColumn, isReplaced, replacedAttempt } from './activity-attempts.ts';
import type { ActivityAttempt } from './activity-attempts.ts';
import type { Database, Transaction } from './database.ts';
import { StoreError } from './errors.ts';
import { writeAsTurn } from './transaction.ts';
import type { TurnWriter, Writer } from './transaction.ts';
import { addUsage } from './usage.ts';

/** The call of a model that wrote a branch summary, or that failed to. */
export interface BranchCall {
  /** Number of the try, from `registerBranchTry`. */
  readonly attempt: number;
  readonly usage: ReportedUsage | null;
  /** Dollars; `null` when the price is unknown. */
  readonly cost: number | null;
}

/**
 * Registers a try of a branch summary before the model is asked. A turn without a step makes one summary at a time, so its
 * row counts them.
 * @param inputTokens of the request, estimated: what the try is taken to have cost when it never reports
 * @returns the number that `changeBranch` must name.
 * @throws StoreError `stale_epoch`, `superseded_attempt` (a newer attempt of the activity has registered)
 */
export async function registerBranchTry(
  sql: Database,
  turn: TurnReference,
  by: ActivityAttempt,
  inputTokens: number,
): Promise<number> {
  return writeAsTurn(sql, turn, async ({ sql: open }) => {
    const [row] = await open<{ attempt: number }[]>`
      update turns set branch_tries = branch_tries + 1, unreported_branch_tries = unreported_branch_tries + 1,
        branch_registered_by = ${attemptColumn(open, by)}, branch_input_estimate = ${Math.round(inputTokens)}
      where id = ${turn.turnId} and not ${isReplaced(open, open`branch_registered_by`, by)}
      returning branch_tries as attempt`;
    if (row === undefined) throw replacedAttempt(`the branch summary of turn ${turn.turnId}`, by);
    return row.attempt;
  });
}

/** Tries of the turn's branch summary that never told what came of them. */
export async function countUnreportedBranchTries(sql: Database, turn: TurnReference): Promise<number> {
  const [row] = await sql<{ unreported: number }[]>`
    select unreported_branch_tries as unreported from turns where id = ${turn.turnId}`;
  return row?.unreported ?? 0;
}

/**
 * A try ended unpaid: the provider refused it, or was not reached. Said again, as when the reply of the commit was lost, it changes
 * nothing.
 * @param tried `failed`: it counts toward the retries of the model's failures, once.
 * @param beside what is written in the same transaction
 * @returns failures of the model so far.
 * @throws StoreError `stale_epoch`
 */
export async function withdrawBranchTry(
  sql: Database,
  turn: TurnReference,
  tried: { readonly attempt: number; readonly failed: boolean },
  beside: (open: Transaction) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  return writeAsTurn(sql, turn, async ({ sql: open }) => {
    await beside(open);
    const [row] = await open<{ failures: number }[]>`
      update turns set withdrawn_branch_try = ${tried.attempt}, unreported_branch_tries = greatest(0, unreported_branch_tries - 1),
        branch_failures = branch_failures + (${tried.failed} and branch_tries = ${tried.attempt})::int
      where id = ${turn.turnId} and withdrawn_branch_try < ${tried.attempt} returning branch_failures as failures`;
    if (row !== undefined) return row.failures;
    const [known] = await open<{ failures: number }[]>`
      select branch_failures as failures from turns where id = ${turn.turnId}`;
    return known?.failures ?? 0;
  });
}

/**
 * How long the turn still has to wait for a provider that is out, as it was told. Shorter waits are over when it is asked again.
 * @returns milliseconds; 0 when no such wait stands
 */
export async function outageWaitLeft(sql: Database, turn: TurnReference): Promise<number> {
  const [row] = await sql<{ left: number | null }[]>`
    select extract(epoch from max(created_at + make_interval(secs => (data ->> 'delayMilliseconds')::float8 / 1000))
      - holdfast_now())::float8 * 1000 as left
    from events
    where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and kind = 'turn_waiting' and created_at <= holdfast_now()
      and data ->> 'reason' = 'outage' and (data ->> 'delayMilliseconds')::float8 > ${LONGEST_UNSEEN_WAIT_MILLISECONDS}`;
  return Math.max(0, Math.ceil(row?.left ?? 0));
}

/**
 * The newest try reports.
 * @returns how many tries before it never did. They are taken for paid, as much as this one.
 * @throws StoreError `superseded_attempt`
 */
export async function reportBranchTry({ sql, turn }: TurnWriter, { attempt }: BranchCall): Promise<number> {
  const [row] = await sql<{ newest: number; unreported: number }[]>`
    select branch_tries as newest, unreported_branch_tries as unreported from turns where id = ${turn.turnId}`;
  if (row?.newest !== attempt) {
    throw new StoreError(
      'superseded_attempt',
      `the branch summary of turn ${turn.turnId} is at attempt ${row?.newest ?? 0}, not ${attempt}`,
    );
  }
  await sql`update turns set unreported_branch_tries = 0 where id = ${turn.turnId}`;
  return Math.max(0, row.unreported - 1);
}

/** Tries of a turn that ends, which never reported: their requests were sent, so they are taken for paid, for the input that was estimated. */
export async function endLostBranchTries({ sql, turn }: Pick<Writer, 'sql' | 'turn'>, turnId: string): Promise<void> {
  const [row] = await sql<{ tries: number; tokens: number; snapshot: AgentSnapshot }[]>`
    select unreported_branch_tries as tries, branch_input_estimate as tokens, a.content as snapshot
    from turns join agent_snapshots a on a.hash = snapshot_hash
    where id = ${turnId} and unreported_branch_tries > 0`;
  if (row === undefined) return;
  const { tries, tokens, snapshot } = row;
  const usage = estimatedUsage(tokens);
  const cost = costOf(usage, snapshot.summarizer.prices);
  for (let paid = 0; paid < tries; paid += 1) await addUsage(sql, { ...turn, turnId }, usage, cost);
  await sql`
    update turns set unreported_branch_tries = 0, lost_branch_calls = ${tries}, lost_branch_tokens = ${tries * usage.input},
      lost_branch_cost = ${cost === null ? null : tries * cost}
    where id = ${turnId}`;
}
