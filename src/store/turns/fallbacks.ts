import type { TurnReference } from '../../turn/turn-reference.ts';
import type { FallbackModel, GivenUpModel } from '../../turn/agent-snapshot.ts';
import type { ActivityAttempt } from '../attempts/activity-attempts.ts';
import { ofCall, readAttempts, stepOf } from '../attempts/attempts.ts';
import { endLostAttempts } from '../attempts/lost-attempts.ts';
import type { Database } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { jsonText } from '../log/stored-text.ts';
import { writeAsTurn } from '../database/transaction.ts';

/**
 * Gives the turn's model up for another one, from the next call on. A call gives up one model: repeated for the same
 * call, it changes nothing.
 * @throws StoreError `stale_epoch`, `superseded_attempt`
 */
export async function fallBack(
  sql: Database,
  change: {
    readonly turn: TurnReference;
    readonly callNumber: number;
    /** The try that failed; `null` when none was made because the wait for one was too long. */
    readonly attempt: number | null;
    /** Who gives it up. Absent: a check before the call. */
    readonly by?: ActivityAttempt;
    readonly from: string;
    readonly to: FallbackModel;
    /** Why `from` is given up. Default: the evidence of the try that failed, `rate_limit` without one. */
    readonly reason?: string;
  },
): Promise<void> {
  const { turn, callNumber, attempt, by, from, to } = change;
  await writeAsTurn(sql, turn, async (writer) => {
    const [row] = await writer.sql<{ fallbacks: readonly GivenUpModel[]; reason: string | null; later: boolean }[]>`
      select t.fallbacks, m.failure_evidence as reason,
        exists (select from model_attempts l
          where l.conversation_id = t.conversation_id and l.turn_id = t.id and l.purpose = 'step' and l.call_number > ${callNumber}
            and (l.registered_by).run_id = ${by?.runId ?? null}) as later
      from turns t
      left join model_attempts m on m.conversation_id = t.conversation_id and m.turn_id = t.id and m.purpose = 'step'
        and m.call_number = ${callNumber} and m.attempt = ${attempt}
      where t.id = ${turn.turnId}`;
    if (row === undefined || row.fallbacks.at(-1)?.callNumber === callNumber) return;
    const call = stepOf({ turn, callNumber });
    const { newest, answered, isReplaced } = await readAttempts(writer.sql, call, by);
    if (answered !== null || isReplaced || row.later || (attempt !== null && newest !== attempt)) {
      const newer = `attempt ${attempt ?? 'none'} of call ${callNumber} of turn ${turn.turnId} was replaced or answered`;
      throw new StoreError('superseded_attempt', newer);
    }
    // A frozen worker may hold a try: stored later, its answer would stand in the log with nobody to take it up.
    await endLostAttempts(writer, ofCall(writer.sql, call));
    const reason = change.reason ?? row.reason ?? 'rate_limit';
    const givenUp = [...row.fallbacks, { model: from, callNumber, reason }];
    await writer.sql`
      update turns set model = ${to.model}, model_limits = null,
        fallbacks = ${jsonText(givenUp)}::text::jsonb
      where id = ${turn.turnId}`;
    await writer.event('model_fallback', { callNumber, from, to: to.model, reason });
  });
}

/** Milliseconds since the turn's model first failed after its last answer; 0 without one. What befell a worker is no failure of the model. */
export async function readSilence(
  sql: Database,
  { turn, model }: { readonly turn: TurnReference; readonly model: string },
): Promise<number> {
  const [row] = await sql<{ milliseconds: number | null }[]>`
    select (extract(epoch from holdfast_now() - min(started_at)) * 1000)::float8 as milliseconds from model_attempts
    where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and purpose = 'step' and model = ${model} and state = 'failed'
      and failure_kind not in ('lost', 'aborted', 'superseded') and call_number > (
      select coalesce(max(call_number), 0) from model_attempts
      where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and entry_id is not null)`;
  return row?.milliseconds ?? 0;
}
