import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database, Transaction } from './database.ts';
import { countWaitingDecisions } from './decision-rows.ts';
import type { DecisionKind, StandingState } from './decision-rows.ts';
import { writeAsTurn } from './transaction.ts';
import type { TurnWriter } from './transaction.ts';

export { listStandingDecisions, listWaitingDecisions, readDecision } from './decision-rows.ts';
export type { Decision, DecisionKind } from './decision-rows.ts';
export { decide, endStandingDecision } from './decide.ts';
export type { DecisionToMake } from './decide.ts';

/** A call that a person must decide on before it may run. */
export interface WantedDecision {
  readonly callIndex: number;
  readonly kind: DecisionKind;
  readonly tool: string;
  /** What made it ask; a decision for the turn or the agent stands for all calls under it. */
  readonly rule: string;
}

export interface DecisionRequest {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly agent: string;
  readonly expiresAfterSeconds: number;
  readonly wanted: readonly WantedDecision[];
}

export interface OpenDecisions {
  /** Calls of the turn that wait. */
  readonly waiting: number;
  /** Of them, the ones that ask a question. */
  readonly questions: number;
  /** Milliseconds until the first of them expires; 0 when none waits. */
  readonly expiresInMilliseconds: number;
}

/**
 * Writes a row for each wanted decision that has none, ends those whose time is over, and says what still waits. A call
 * that a standing decision covers gets its row decided at once. Repeating it changes nothing else.
 * @throws StoreError `stale_epoch`
 */
export async function requestDecisions(sql: Database, request: DecisionRequest): Promise<OpenDecisions> {
  return writeAsTurn(sql, request.turn, async (writer) => {
    for (const wanted of request.wanted) await ask(writer, request, wanted);
    await expire(writer);
    return countWaitingDecisions(writer.sql, request.turn.turnId);
  });
}

async function ask({ sql, turn, event }: TurnWriter, request: DecisionRequest, wanted: WantedDecision): Promise<void> {
  const { callNumber, agent, expiresAfterSeconds } = request;
  const { callIndex, kind, tool, rule } = wanted;
  const standing = kind === 'approval' ? await findStanding(sql, { turnId: turn.turnId, agent, rule }) : null;
  const { count } = await sql`
    insert into decisions (turn_id, call_number, call_index, conversation_id, epoch, kind, agent, tool, rule, expires_at,
      state, scope, content, decided_at)
    select c.turn_id, c.call_number, c.call_index, c.conversation_id, ${turn.epoch}, ${kind}, ${agent}, ${tool}, ${rule},
      holdfast_now() + make_interval(secs => ${expiresAfterSeconds}), ${standing?.state ?? 'waiting'},
      ${standing === null ? null : 'call'}, ${standing?.content ?? null}::text::json,
      case when ${standing !== null} then holdfast_now() end
    from tool_calls c
    where c.turn_id = ${turn.turnId} and c.call_number = ${callNumber} and c.call_index = ${callIndex} and c.state <> 'finished'
    on conflict do nothing`;
  if (count === 0) return;
  if (standing === null) await event('decision_requested', { callNumber, callIndex, name: tool, kind });
  else await event('decision_made', { callNumber, callIndex, name: tool, decision: standing.state, scope: 'standing' });
}

/** What was decided before for all calls under the rule: in this turn, or for the agent. The newest counts. */
async function findStanding(
  sql: Transaction,
  { turnId, agent, rule }: { readonly turnId: string; readonly agent: string; readonly rule: string },
): Promise<{ readonly state: StandingState; readonly content: string | null } | null> {
  // The reason is the conversation's: where that was deleted, the decision stands without it.
  const [row] = await sql<{ state: StandingState; content: string | null }[]>`
    select state, content from (
      select state, content::text as content, decided_at from decisions
      where turn_id = ${turnId} and rule = ${rule} and scope = 'turn' and state in ('approved', 'denied')
      union all
      select s.state, d.content::text, s.decided_at
      from standing_decisions s left join decisions d using (turn_id, call_number, call_index)
      where s.agent = ${agent} and s.rule = ${rule}
    ) as standing
    order by decided_at desc limit 1`;
  return row ?? null;
}

async function expire({ sql, turn, event }: TurnWriter): Promise<void> {
  const rows = await sql<{ call_number: number; call_index: number; tool: string }[]>`
    update decisions set state = 'expired', decided_at = holdfast_now()
    where turn_id = ${turn.turnId} and state = 'waiting' and expires_at <= holdfast_now()
    returning call_number, call_index, tool`;
  for (const { call_number: callNumber, call_index: callIndex, tool } of rows) {
    await event('decision_made', { callNumber, callIndex, name: tool, decision: 'expired' });
  }
}

/** Nobody needs to decide any more: the turn ended first. Part of closing its open tool calls. */
export async function withdrawDecisions(sql: Transaction, conversationId: string): Promise<void> {
  await sql`
    update decisions set state = 'withdrawn', decided_at = holdfast_now()
    where conversation_id = ${conversationId} and state = 'waiting'`;
}
