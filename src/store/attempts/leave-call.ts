import type { ActivityAttempt } from './activity-attempts.ts';
import { readAnswer } from '../messages/answers.ts';
import type { ModelCallReference, StoredAnswer } from '../messages/answers.ts';
import { readAttempts, replacedCall, stepOf } from './attempts.ts';
import type { Database } from '../database/database.ts';
import { endLostAttempts } from './lost-attempts.ts';
import { writeAsTurn } from '../database/transaction.ts';

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
    const call = stepOf({ turn, callNumber });
    const { isReplaced } = await readAttempts(writer.sql, call, by);
    if (isReplaced) throw replacedCall(call, by);
    const { count } = await writer.sql`
      update turns set left_call = ${callNumber} where id = ${turn.turnId} and left_call < ${callNumber}`;
    if (count === 0) return { kind: 'left_before' };
    await endLostAttempts(writer, writer.sql`m.turn_id = ${turn.turnId} and m.purpose = 'step'`);
    return { kind: 'left' };
  });
}
