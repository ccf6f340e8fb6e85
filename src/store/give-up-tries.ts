import type { ReportedUsage } from '../models/model-client.ts';
import { readAnswer } from './answers.ts';
import type { ModelCallReference, StoredAnswer } from './answers.ts';
import type { Database } from './database.ts';
import { writeAsTurn } from './transaction.ts';
import { addUsage } from './usage.ts';

/**
 * Ends the tries of a call that its turn leaves unanswered, to ask again under another number. A worker that was frozen may still
 * hold one: stored later, its answer would stand in the log with nobody to take it up, and the model would be asked once more with
 * nothing to answer to. Their requests were sent, so they are taken for paid, for the input that was estimated.
 * @param costOf dollars of a usage; `null` when a price is unknown
 * @returns the answer, when one was stored meanwhile: the call is not left then
 * @throws StoreError `stale_epoch`
 */
export async function giveUpTries(
  sql: Database,
  { turn, callNumber }: ModelCallReference,
  costOf: (usage: ReportedUsage) => number | null,
): Promise<StoredAnswer | null> {
  return writeAsTurn(sql, turn, async (writer) => {
    const answer = await readAnswer(writer.sql, { turn, callNumber });
    if (answer !== null) return answer;
    const tries = await writer.sql<{ attempt: number; estimatedTokens: number }[]>`
      select attempt, estimated_tokens as "estimatedTokens" from model_calls
      where turn_id = ${turn.turnId} and call_number = ${callNumber} and state = 'registered' order by attempt`;
    for (const { attempt, estimatedTokens } of tries) {
      const usage = { input: estimatedTokens, cacheRead: 0, cacheWrite: 0, output: 0 };
      const cost = costOf(usage);
      await writer.sql`
        update model_calls set state = 'failed', failure_kind = 'lost', failure_evidence = 'given_up',
          input_tokens = ${usage.input}, cost = ${cost}, epoch = ${turn.epoch}, ended_at = holdfast_now()
        where turn_id = ${turn.turnId} and call_number = ${callNumber} and attempt = ${attempt}`;
      await addUsage(writer.sql, turn, usage, cost);
      await writer.event('model_call_failed', { callNumber, attempt, kind: 'lost', status: null });
    }
    return null;
  });
}
