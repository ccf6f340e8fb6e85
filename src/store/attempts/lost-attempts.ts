import { costOf, estimatedUsage } from '../../models/catalogue/cost.ts';
import type { AgentSnapshot, ModelPrices } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { endAttempt } from './attempts.ts';
import type { PaidCall } from './attempts.ts';
import type { Fragment } from '../database/database.ts';
import type { Writer } from '../database/transaction.ts';

interface OpenAttempt {
  readonly turnId: string;
  readonly purpose: PaidCall['purpose'];
  readonly callNumber: number;
  /** Of a summary's part. */
  readonly compactionId: string;
  readonly part: number;
  readonly attempt: number;
  readonly model: string;
  readonly estimatedTokens: number;
  readonly snapshot: AgentSnapshot;
}

/**
 * Attempts that nobody waits for any more and that never reported: their requests were sent, so they count as paid, for the input
 * that was estimated.
 * @param of condition on `model_attempts m`
 */
export async function endLostAttempts({ sql, turn, event }: Writer, of: Fragment): Promise<void> {
  const attempts = await sql<OpenAttempt[]>`
    select m.turn_id, m.purpose, m.call_number, m.compaction_id, m.part, m.attempt,
      m.model, m.estimated_tokens, s.content as snapshot
    from model_attempts m join turns t on t.id = m.turn_id join agent_snapshots s on s.hash = t.snapshot_hash
    where m.conversation_id = ${turn.conversationId} and ${of} and m.state = 'registered' order by m.started_at, m.call_number, m.attempt`;
  for (const { turnId, attempt, estimatedTokens, ...open } of attempts) {
    const call = paidCallOf({ ...turn, turnId }, open);
    const usage = estimatedUsage(estimatedTokens);
    const failure = { kind: 'lost', evidence: 'worker_lost' } as const;
    await endAttempt({ sql, turn }, call, {
      attempt,
      usage,
      cost: costOf(usage, pricesOf(open)),
      durationMilliseconds: null,
      failure,
    });
    if (call.purpose !== 'step') continue;
    await event('model_call_failed', { callNumber: call.callNumber, attempt, kind: 'lost', status: null }, turnId);
  }
}

function paidCallOf(
  turn: TurnReference,
  { purpose, callNumber, compactionId, part }: Pick<OpenAttempt, 'purpose' | 'callNumber' | 'compactionId' | 'part'>,
): PaidCall {
  switch (purpose) {
    case 'step':
      return { turn, purpose, callNumber };
    case 'summary_part':
      return { turn, purpose, compactionId, part };
  }
}

function pricesOf({ purpose, model, snapshot }: Pick<OpenAttempt, 'purpose' | 'model' | 'snapshot'>): ModelPrices {
  const models = [snapshot, ...(snapshot.fallbacks ?? [])];
  const asked = purpose === 'step' ? models : models.map(({ summarizer }) => summarizer);
  return (asked.find((each) => each.model === model) ?? snapshot).prices;
}
