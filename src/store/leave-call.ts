import { costOf, estimatedUsage } from '../models/cost.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import { isReplaced, replacedAttempt } from './activity-attempts.ts';
import type { ActivityAttempt } from './activity-attempts.ts';
import { readAnswer } from './answers.ts';
import type { ModelCallReference, StoredAnswer } from './answers.ts';
import type { Database } from './database.ts';
import { writeAsTurn } from './transaction.ts';
import type { Writer } from './transaction.ts';
import { addUsage } from './usage.ts';

export type LeftCall =
  | { readonly kind: 'left' }
  /** An attempt before has left it, and may have done what follows from that. */
  | { readonly kind: 'left_before' }
  /** An answer was stored meanwhile: the call is not left. */
  | { readonly kind: 'answered'; readonly answer: StoredAnswer };

/**
 * Leaves a call number without an answer; its turn asks again under another one. A worker that was frozen may still hold a try of
 * it, or be about to begin one: stored later, that answer would stand in the log with nobody to take it up, and the model would
 * be asked once more with nothing to answer to.
 * @param call.by who leaves it: what a later attempt of its activity has asked the model is not thrown away
 * @throws StoreError `stale_epoch`, `superseded_attempt`
 */
export async function leaveCall(
  sql: Database,
  { turn, callNumber, by }: ModelCallReference & { readonly by: ActivityAttempt },
): Promise<LeftCall> {
  return writeAsTurn(sql, turn, async (writer): Promise<LeftCall> => {
    const answer = await readAnswer(writer.sql, { turn, callNumber });
    if (answer !== null) return { kind: 'answered', answer };
    const replacing = await writer.sql`
      select from model_calls where turn_id = ${turn.turnId} and call_number = ${callNumber}
        and ${isReplaced(writer.sql, writer.sql`registered_by`, by)} limit 1`;
    if (replacing.length > 0) throw replacedAttempt(`call ${callNumber} of turn ${turn.turnId}`, by);
    const { count } = await writer.sql`
      update turns set left_call = ${callNumber} where id = ${turn.turnId} and left_call < ${callNumber}`;
    if (count === 0) return { kind: 'left_before' };
    await endLostTries(writer, turn.turnId);
    return { kind: 'left' };
  });
}

/**
 * Tries of a turn whose workers never reported, and that no later try of the same call accounts for. Their requests were sent, so
 * they are taken for paid, for the input that was estimated.
 */
export async function endLostTries({ sql, turn, event }: Writer, turnId: string): Promise<void> {
  const tries = await sql<
    { callNumber: number; attempt: number; model: string; estimatedTokens: number; snapshot: AgentSnapshot }[]
  >`
    select m.call_number as "callNumber", m.attempt, m.model, m.estimated_tokens as "estimatedTokens", a.content as snapshot
    from model_calls m join turns t on t.id = m.turn_id join agent_snapshots a on a.hash = t.snapshot_hash
    where m.turn_id = ${turnId} and m.state = 'registered' order by m.call_number, m.attempt`;
  for (const { callNumber, attempt, model, estimatedTokens, snapshot } of tries) {
    const usage = estimatedUsage(estimatedTokens);
    const { prices } = [snapshot, ...(snapshot.fallbacks ?? [])].find((each) => each.model === model) ?? snapshot;
    const cost = costOf(usage, prices);
    await sql`
      update model_calls set state = 'failed', failure_kind = 'lost', failure_evidence = 'worker_lost',
        input_tokens = ${usage.input}, cost = ${cost}, epoch = ${turn.epoch}, ended_at = holdfast_now()
      where turn_id = ${turnId} and call_number = ${callNumber} and attempt = ${attempt}`;
    await addUsage(sql, { ...turn, turnId }, usage, cost);
    await event('model_call_failed', { callNumber, attempt, kind: 'lost', status: null }, turnId);
  }
}
