import { writeCallName } from '../turn/call-name.ts';
import type { CallName } from '../turn/call-name.ts';
import type { TurnOutcome } from '../turn/turn-reference.ts';
import { isId } from './ids.ts';
import type { Database, Transaction } from './database.ts';
import type { DecisionKind, DecisionScope, DecisionState } from './decision-rows.ts';
import { StoreError } from './errors.ts';
import { letStand } from './standing-decisions.ts';
import { isoTime, jsonText } from './stored-text.ts';
import { writeEvents } from './transaction.ts';
import type { Writer } from './transaction.ts';
import { turnNumber, turnNumbered } from './turn-number.ts';

export interface DecisionToMake {
  readonly conversationId: string;
  readonly kind: DecisionKind;
  /** Which call; left out, the only one that waits. */
  readonly call?: CallName;
  readonly state: Extract<DecisionState, 'approved' | 'denied' | 'answered'>;
  readonly scope: DecisionScope;
  /** Reason or answer. */
  readonly text: string | null;
  /** Sending it twice is sending it once. */
  readonly decisionId: string;
}

export interface MadeDecision {
  readonly turnId: string;
  readonly call: CallName;
  readonly agent: string;
  readonly rule: string;
  readonly tool: string;
  /** As the model wrote them. */
  readonly arguments: string;
  /** The same id had decided it before. */
  readonly duplicate: boolean;
  /** Calls that were decided: with a wider scope, all that wait in the turn under the same rule. */
  readonly decided: number;
}

interface CallRow {
  readonly turn_id: string;
  readonly turn_number: number;
  readonly outcome: TurnOutcome | null;
  readonly call_number: number;
  readonly call_index: number;
  readonly kind: DecisionKind;
  readonly agent: string;
  readonly tool: string;
  readonly rule: string;
  readonly arguments: string;
  readonly state: DecisionState;
  readonly decision_id: string | null;
  readonly expires_at: Date;
  readonly overdue: boolean;
}

/**
 * Decides on a call that waits. The row is the decision: it holds with no worker alive, and the turn reads it when it is rung.
 * With the scope `agent` it also stands for other conversations: `decideCoveredCalls` decides what waits there.
 * @throws StoreError `decision_not_found` (nothing waits, or no such call), `decision_ambiguous` (several wait and none was
 * named), `decision_stale` (it was decided before, perhaps otherwise under this id, its time is over, or its turn has ended)
 */
export async function decide(sql: Database, decision: DecisionToMake): Promise<MadeDecision> {
  const { conversationId } = decision;
  if (!isId(conversationId)) throw notFound(decision);
  return writeEvents(sql, conversationId, async ({ sql: open, writer }) => {
    // Locked like a write of the turn, so that a decision and the turn's end or an expiry follow each other.
    const [conversation] = await open<{ epoch: number }[]>`
      select epoch from conversations where id = ${conversationId} for no key update`;
    const call = await findCall(open, decision);
    const { turn_id: turnId, agent, rule, tool, arguments: argumentsText } = call;
    const made = { turnId, call: nameOf(call), agent, rule, tool, arguments: argumentsText };
    if (call.decision_id === decision.decisionId) {
      if (call.kind !== decision.kind || call.state !== decision.state) throw stale(call);
      return { ...made, duplicate: true, decided: 0 };
    }
    if (call.kind !== decision.kind) throw wrongKind(call);
    if (call.state !== 'waiting' || call.overdue) throw stale(call);
    const epoch = conversation?.epoch ?? 0;
    const decided = await write(writer({ conversationId, turnId, epoch }), call, decision);
    return { ...made, duplicate: false, decided };
  });
}

async function findCall(sql: Transaction, decision: DecisionToMake): Promise<CallRow> {
  const { conversationId, call, decisionId, kind } = decision;
  const rows = await sql<CallRow[]>`
    select d.turn_id, ${turnNumber(sql)} as turn_number, t.outcome, d.call_number, d.call_index, d.kind, d.agent, d.tool, d.rule,
      c.arguments, d.state, d.decision_id, d.expires_at, d.expires_at <= holdfast_now() as overdue
    from decisions d join turns t on t.id = d.turn_id join tool_calls c using (turn_id, call_number, call_index)
    where d.conversation_id = ${conversationId} and ${
      call === undefined
        ? sql`((d.state = 'waiting' and d.kind = ${kind}) or d.decision_id = ${decisionId})`
        : sql`d.turn_id = ${turnNumbered(sql, conversationId, call.turnNumber)}
          and d.call_number = ${call.callNumber} and d.call_index = ${call.callIndex}`
    }
    order by t.epoch desc, d.call_number, d.call_index`;
  const repeated = rows.find((row) => row.decision_id === decisionId);
  const [first, ...others] = rows;
  if (repeated !== undefined) return repeated;
  if (first === undefined) throw (await ofEndedTurn(sql, decision)) ?? notFound(decision);
  if (call === undefined && others.length > 0) {
    const list = rows.map((row) => `${writeCallName(nameOf(row))} (${row.tool})`).join(', ');
    throw new StoreError('decision_ambiguous', `${rows.length} calls wait: name one of ${list}`);
  }
  return first;
}

async function write({ sql, turn, event }: Writer, call: CallRow, decision: DecisionToMake): Promise<number> {
  const { state, scope, text, decisionId } = decision;
  const wide = scope !== 'call';
  const rows = await sql<{ call_number: number; call_index: number; tool: string }[]>`
    update decisions set state = ${state}, content = ${text === null ? null : jsonText(text)}::text::json,
      decided_at = holdfast_now(),
      scope = case when call_number = ${call.call_number} and call_index = ${call.call_index} then ${scope} else 'call' end,
      decision_id = case when call_number = ${call.call_number} and call_index = ${call.call_index} then ${decisionId} end
    where turn_id = ${turn.turnId} and state = 'waiting' and expires_at > holdfast_now()
      and ((call_number = ${call.call_number} and call_index = ${call.call_index})
        or (${wide} and kind = 'approval' and rule = ${call.rule}))
    returning call_number, call_index, tool`;
  for (const { call_number: callNumber, call_index: callIndex, tool: name } of rows) {
    await event('decision_made', { turn: call.turn_number, callNumber, callIndex, name, decision: state, scope });
  }
  if (scope === 'agent') await letStand(sql, { turnId: turn.turnId, ...nameOf(call) });
  return rows.length;
}

function nameOf({ turn_number: turn, call_number: number, call_index: index }: CallRow): CallName {
  return { turnNumber: turn, callNumber: number, callIndex: index };
}

function notFound({ conversationId, call, kind }: DecisionToMake): StoreError {
  const what = kind === 'approval' ? 'waits for an approval' : 'waits for an answer';
  const where = call === undefined ? 'nothing' : `no call ${writeCallName(call)}`;
  return new StoreError('decision_not_found', `${where} in conversation ${conversationId} ${what}`);
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
  const { turn_number: number, state, tool, outcome, expires_at: expiresAt } = call;
  const fate =
    state === 'withdrawn' && outcome !== null
      ? endedWords(number, outcome)
      : state === 'waiting' || state === 'expired'
        ? `expired at ${isoTime(expiresAt)}: the decision came too late`
        : `is ${state} already: a decision is final`;
  return new StoreError('decision_stale', `call ${writeCallName(nameOf(call))} (${tool}) ${fate}`);
}
