import type { RequestDecisionsResult } from '../../turn/activity-values.ts';
import type { TurnReference, TurnOutcome } from '../../turn/turn-reference.ts';
import type { Database, Transaction } from '../database/database.ts';
import { countWaitingDecisions, listWaitingDecisions } from './decision-rows.ts';
import type { DecisionKind, DecisionScope, DecisionState } from './decision-rows.ts';
import { applyStanding, findStanding, letStand } from './standing-decisions.ts';
import { writeAsTurn, writeLocked } from '../database/transaction.ts';
import type { TurnWriter, Writer } from '../database/transaction.ts';
import { readTurnNumber, turnNumber, turnNumbered } from '../turns/turn-number.ts';
import { writeCallName } from '../../turn/call-name.ts';
import type { CallName } from '../../turn/call-name.ts';
import { isId } from '../database/ids.ts';
import { StoreError } from '../database/errors.ts';
import { jsonText } from '../log/stored-text.ts';

export { listDecisionsOfTenant, listMadeDecisions, listWaitingDecisions, readDecision } from './decision-rows.ts';
export type { CallOfConversation, Decision, DecisionKind } from './decision-rows.ts';
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

/**
 * Writes a row for each wanted decision that has none, unless the call has begun, ends those whose time is over, and says what still waits. A call
 * that a standing decision covers gets its row decided at once, also one that began to wait before the decision. Repeating it
 * changes nothing else.
 */
export async function requestDecisions(sql: Database, request: DecisionRequest): Promise<RequestDecisionsResult> {
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
    where c.conversation_id = ${turn.conversationId} and c.turn_id = ${turn.turnId}
      and c.call_number = ${callNumber} and c.call_index = ${callIndex} and c.state = 'requested'
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

export interface DecisionToMake {
  readonly conversationId: string;
  readonly kind: DecisionKind;
  /** Which call; left out, the only one that waits. */
  readonly call?: CallName;
  readonly state: Extract<DecisionState, 'approved' | 'denied' | 'answered'>;
  readonly scope: DecisionScope;
  readonly text: string | null;
  /** Sending it twice is sending it once. */
  readonly decisionId: string;
  /** Who decides. */
  readonly decidedBy?: string;
}

export interface MadeDecision extends Pick<CallRow, 'turnId' | 'agent' | 'rules' | 'tool' | 'arguments'> {
  readonly call: CallName;
  readonly duplicate: boolean;
  /** Calls that were decided: with a wider scope, all that wait in the turn and are covered by it. */
  readonly decided: number;
}

interface CallRow {
  readonly turnId: string;
  readonly turnNumber: number;
  readonly outcome: TurnOutcome | null;
  readonly callNumber: number;
  readonly callIndex: number;
  readonly kind: DecisionKind;
  readonly agent: string;
  readonly tool: string;
  readonly rules: readonly string[];
  readonly arguments: string;
  readonly state: DecisionState;
  readonly scope: DecisionScope | null;
  readonly content: string | null;
  readonly decisionId: string | null;
  readonly expiresAt: Date;
  readonly overdue: boolean;
}

/**
 * Decides on a call that waits. The row is the decision: it holds with no worker alive, and the turn reads it when it is rung.
 * With the scope `agent` it also stands for other conversations: `decideCoveredCalls` decides what waits there.
 * @throws StoreError `decision_not_found` (nothing waits, or no such call), `decision_ambiguous` (several wait and none was
 * named), `decision_stale` (it was decided before, its time is over, or its turn has ended), `decision_id_reused` (the same id
 * decided on another call, or otherwise)
 */
export async function decide(sql: Database, decision: DecisionToMake): Promise<MadeDecision> {
  const { conversationId } = decision;
  if (!isId(conversationId)) throw notFound(decision);
  return writeLocked(sql, conversationId, async ({ sql: open, writer, conversation }) => {
    const call = await findCall(open, decision);
    const { turnId, agent, rules, tool, arguments: argumentsText } = call;
    const made = { turnId, call: nameOf(call), agent, rules, tool, arguments: argumentsText };
    if (call.decisionId === decision.decisionId) {
      if (!isSame(call, decision)) throw idReused(call, decision);
      return { ...made, duplicate: true, decided: 0 };
    }
    if (call.kind !== decision.kind) throw wrongKind(call);
    if (call.state !== 'waiting' || call.overdue) throw stale(call);
    const epoch = conversation?.epoch ?? 0;
    const decided = await write(writer({ conversationId, turnId, epoch }), call, decision);
    return { ...made, duplicate: false, decided };
  });
}

/** Whether a call waits whose time is over: its turn has not noticed yet, and a ring makes it look. */
export async function hasOverdueDecisions(sql: Database, conversationId: string): Promise<boolean> {
  if (!isId(conversationId)) return false;
  const rows = await sql`
    select from decisions
    where conversation_id = ${conversationId} and state = 'waiting' and expires_at <= holdfast_now() limit 1`;
  return rows.length > 0;
}

async function findCall(sql: Transaction, decision: DecisionToMake): Promise<CallRow> {
  const { conversationId, call, decisionId, kind } = decision;
  const rows = await sql<CallRow[]>`
    select d.turn_id, ${turnNumber(sql)} as turn_number, t.outcome, d.call_number, d.call_index, d.kind, d.agent, d.tool, d.rules,
      c.arguments, d.state, d.scope, d.content, d.decision_id, d.expires_at, d.expires_at <= holdfast_now() as overdue
    from decisions d join tool_calls c using (conversation_id, turn_id, call_number, call_index)
      join turns t on t.id = d.turn_id
    where d.conversation_id = ${conversationId} and (d.decision_id = ${decisionId} or ${
      call === undefined
        ? sql`(d.state = 'waiting' and d.kind = ${kind})`
        : sql`(d.turn_id = ${turnNumbered(sql, conversationId, call.turnNumber)}
          and d.call_number = ${call.callNumber} and d.call_index = ${call.callIndex})`
    })
    order by t.epoch desc, d.call_number, d.call_index`;
  const repeated = rows.find((row) => row.decisionId === decisionId);
  const [first, ...others] = rows;
  if (repeated !== undefined) return repeated;
  if (first === undefined) {
    const ended = await ofEndedTurn(sql, decision);
    throw ended ?? notFound(decision, await listWaitingDecisions(sql, conversationId));
  }
  if (call === undefined && others.length > 0) {
    const list = rows.map((row) => `${writeCallName(nameOf(row))} (${row.tool})`).join(', ');
    throw new StoreError('decision_ambiguous', `${rows.length} calls wait: name one of ${list}`);
  }
  return first;
}

async function write(writer: Writer, call: CallRow, decision: DecisionToMake): Promise<number> {
  const { sql, turn, event } = writer;
  const { state, scope, text, decisionId, decidedBy } = decision;
  const { turnNumber: number, callNumber, callIndex } = nameOf(call);
  await sql`
    update decisions set state = ${state}, content = ${text === null ? null : jsonText(text)}::text::json,
      decided_at = holdfast_now(), decided_by = ${decidedBy ?? null}, scope = ${scope}, decision_id = ${decisionId}
    where turn_id = ${turn.turnId} and call_number = ${callNumber} and call_index = ${callIndex}`;
  const made = { turn: number, callNumber, callIndex, name: call.tool, decision: state, scope };
  await event('decision_made', decidedBy === undefined ? made : { ...made, decidedBy });
  if (scope === 'agent') await letStand(sql, { turnId: turn.turnId, callNumber, callIndex });
  return scope === 'call' ? 1 : 1 + (await applyStanding(writer, scope));
}

function isSame(call: CallRow, decision: DecisionToMake): boolean {
  const named = decision.call === undefined || writeCallName(decision.call) === writeCallName(nameOf(call));
  const { kind, state, scope, content } = call;
  return (
    named && kind === decision.kind && state === decision.state && scope === decision.scope && content === decision.text
  );
}

function idReused(call: CallRow, { decisionId }: DecisionToMake): StoreError {
  const { state, tool } = call;
  return new StoreError(
    'decision_id_reused',
    `decision id ${decisionId} stands for another decision: by it call ${writeCallName(nameOf(call))} (${tool}) is ${state}; give each decision an id of its own`,
  );
}

function nameOf({ turnNumber: turn, callNumber: number, callIndex: index }: CallRow): CallName {
  return { turnNumber: turn, callNumber: number, callIndex: index };
}

/** @param waiting calls that wait there */
function notFound(
  { conversationId, call, kind }: DecisionToMake,
  waiting: readonly { readonly call: string; readonly tool: string }[] = [],
): StoreError {
  const what = kind === 'approval' ? 'waits for an approval' : 'waits for an answer';
  const where = call === undefined ? 'nothing' : `no call ${writeCallName(call)}`;
  const others = waiting.map((each) => `${each.call} (${each.tool})`).join(', ');
  const instead = others === '' ? '' : `; waiting: ${others}`;
  return new StoreError('decision_not_found', `${where} in conversation ${conversationId} ${what}${instead}`);
}

function wrongKind(call: CallRow): StoreError {
  const what = call.kind === 'question' ? 'asks a question: answer it' : 'asks for an approval: approve or deny it';
  return new StoreError('decision_not_found', `call ${writeCallName(nameOf(call))} ${what}`);
}

/** A name of a turn that is over, though nothing of that name ever waited; `null`: no such turn, or one that is open. */
async function ofEndedTurn(sql: Transaction, { conversationId, call }: DecisionToMake): Promise<StoreError | null> {
  if (call === undefined) return null;
  const [turn] = await sql<{ outcome: TurnOutcome }[]>`
    select outcome from turns
    where id = ${turnNumbered(sql, conversationId, call.turnNumber)} and outcome is not null`;
  if (turn === undefined) return null;
  return new StoreError('decision_stale', `call ${writeCallName(call)} ${endedWords(call.turnNumber, turn.outcome)}`);
}

function endedWords(number: number, outcome: TurnOutcome): string {
  return `belongs to turn ${number}, which has ended (${outcome.replaceAll('_', ' ')}): nothing of it waits any more`;
}

function stale(call: CallRow): StoreError {
  const { turnNumber: number, state, tool, outcome, expiresAt } = call;
  const fate =
    state === 'withdrawn' && outcome !== null
      ? endedWords(number, outcome)
      : state === 'waiting' || state === 'expired'
        ? `expired at ${expiresAt.toISOString()}: the decision came too late`
        : `is ${state} already: a decision is final`;
  return new StoreError('decision_stale', `call ${writeCallName(nameOf(call))} (${tool}) ${fate}`);
}
