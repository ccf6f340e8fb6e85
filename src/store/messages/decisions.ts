import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Transaction } from '../database/database.ts';
import { countWaitingDecisions } from './decision-rows.ts';
import type { DecisionKind } from './decision-rows.ts';
import { applyStanding, findStanding } from './standing-decisions.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { TurnWriter } from '../database/transaction.ts';
import { readTurnNumber } from '../turns/turn-number.ts';

export { listDecisionsOfTenant, listWaitingDecisions, readDecision } from './decision-rows.ts';
export type { Decision, DecisionKind } from './decision-rows.ts';
export { decide, hasOverdueDecisions } from './decide.ts';
export type { DecisionToMake } from './decide.ts';
export { decideCoveredCalls, endStandingDecision, listStandingDecisions } from './standing-decisions.ts';

export interface WantedDecision {
  readonly callIndex: number;
  readonly kind: DecisionKind;
  readonly tool: string;
  /** All that made it ask, at least one. A decision for the turn or the agent stands for each of them. */
  readonly rules: readonly string[];
}

export interface DecisionRequest {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly agent: string;
  readonly expiresAfterSeconds: number;
  readonly wanted: readonly WantedDecision[];
}

export interface OpenDecisions {
  readonly waiting: number;
  readonly questions: number;
  readonly expiresInMilliseconds: number;
}

/**
 * Writes a row for each wanted decision that has none, unless the call has begun, ends those whose time is over, and says what still waits. A call
 * that a standing decision covers gets its row decided at once, also one that began to wait before the decision. Repeating it
 * changes nothing else.
 */
export async function requestDecisions(sql: Database, request: DecisionRequest): Promise<OpenDecisions> {
  return writeAsTurn(sql, request.turn, async (writer) => {
    const number = await readTurnNumber(writer.sql, request.turn.turnId);
    for (const wanted of request.wanted) await ask(writer, { ...request, number }, wanted);
    await expire(writer, number);
    await applyStanding(writer, 'standing');
    return countWaitingDecisions(writer.sql, request.turn.turnId);
  });
}

async function ask(
  { sql, turn, event }: TurnWriter,
  request: DecisionRequest & { readonly number: number },
  wanted: WantedDecision,
): Promise<void> {
  const { callNumber, agent, expiresAfterSeconds, number } = request;
  const { callIndex, kind, tool, rules } = wanted;
  const standing = kind === 'approval' ? await findStanding(sql, { turnId: turn.turnId, agent, rules }) : null;
  const { count } = await sql`
    insert into decisions (turn_id, call_number, call_index, conversation_id, epoch, kind, agent, tool, rules, expires_at,
      state, scope, content, decided_at)
    select c.turn_id, c.call_number, c.call_index, c.conversation_id, ${turn.epoch}, ${kind}, ${agent}, ${tool},
      ${[...rules]}::text[], holdfast_now() + make_interval(secs => ${expiresAfterSeconds}), ${standing?.state ?? 'waiting'},
      ${standing === null ? null : 'call'}, ${standing?.content ?? null}::text::json,
      case when ${standing !== null} then holdfast_now() end
    from tool_calls c
    where c.conversation_id = ${turn.conversationId} and c.turn_id = ${turn.turnId} and c.call_number = ${callNumber} and c.call_index = ${callIndex} and c.state <> 'finished'
      and c.given_back = c.attempt
    on conflict do nothing`;
  if (count === 0) return;
  const call = { turn: number, callNumber, callIndex, name: tool };
  if (standing === null) await event('decision_requested', { ...call, kind });
  else await event('decision_made', { ...call, decision: standing.state, scope: 'standing' });
}

async function expire({ sql, turn, event }: TurnWriter, number: number): Promise<void> {
  const rows = await sql<{ callNumber: number; callIndex: number; tool: string }[]>`
    update decisions set state = 'expired', decided_at = holdfast_now()
    where turn_id = ${turn.turnId} and state = 'waiting' and expires_at <= holdfast_now()
    returning call_number, call_index, tool`;
  for (const { callNumber, callIndex, tool } of rows) {
    await event('decision_made', { turn: number, callNumber, callIndex, name: tool, decision: 'expired' });
  }
}

/** Nobody needs to decide any more: the turn ended first. Part of closing its open tool calls. */
export async function withdrawDecisions(sql: Transaction, conversationId: string): Promise<void> {
  await sql`
    update decisions set state = 'withdrawn', decided_at = holdfast_now()
    where conversation_id = ${conversationId} and state = 'waiting'`;
}
