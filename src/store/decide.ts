import { isId } from './ids.ts';
import type { Database, Transaction } from './database.ts';
import type { DecisionKind, DecisionScope, DecisionState } from './decision-rows.ts';
import { StoreError } from './errors.ts';
import { jsonText } from './stored-text.ts';
import { writeEvents } from './transaction.ts';
import type { Writer } from './transaction.ts';

export interface DecisionToMake {
  readonly conversationId: string;
  readonly kind: DecisionKind;
  /** Which call; left out, the only one that waits. */
  readonly call?: { readonly callNumber: number; readonly callIndex: number };
  readonly state: Extract<DecisionState, 'approved' | 'denied' | 'answered'>;
  readonly scope: DecisionScope;
  /** Reason or answer. */
  readonly text: string | null;
  /** Sending it twice is sending it once. */
  readonly decisionId: string;
}

export interface MadeDecision {
  readonly turnId: string;
  readonly callNumber: number;
  readonly callIndex: number;
  /** The same id had decided it before. */
  readonly duplicate: boolean;
  /** Calls that were decided: with a wider scope, all that wait in the turn under the same rule. */
  readonly decided: number;
}

interface CallRow {
  readonly turn_id: string;
  readonly call_number: number;
  readonly call_index: number;
  readonly kind: DecisionKind;
  readonly tool: string;
  readonly rule: string;
  readonly state: DecisionState;
  readonly decision_id: string | null;
  readonly overdue: boolean;
}

/**
 * Decides on a call that waits. The row is the decision: it holds with no worker alive, and the turn reads it when it is rung.
 * @throws StoreError `decision_not_found` (nothing waits, or no such call), `decision_ambiguous` (several wait and none was
 * named), `decision_stale` (it was decided before, perhaps otherwise under this id, its time is over, or the turn has ended)
 */
export async function decide(sql: Database, decision: DecisionToMake): Promise<MadeDecision> {
  const { conversationId } = decision;
  if (!isId(conversationId)) throw notFound(decision);
  return writeEvents(sql, conversationId, async ({ sql: open, writer }) => {
    // Locked like a write of the turn, so that a decision and the turn's end or an expiry follow each other.
    const [conversation] = await open<{ epoch: number }[]>`
      select epoch from conversations where id = ${conversationId} for no key update`;
    const call = await findCall(open, decision);
    const { turn_id: turnId, call_number: callNumber, call_index: callIndex } = call;
    const address = { turnId, callNumber, callIndex };
    if (call.decision_id === decision.decisionId) {
      if (call.kind !== decision.kind || call.state !== decision.state) throw stale(call);
      return { ...address, duplicate: true, decided: 0 };
    }
    if (call.kind !== decision.kind) throw wrongKind(call);
    if (call.state !== 'waiting' || call.overdue) throw stale(call);
    const epoch = conversation?.epoch ?? 0;
    const decided = await write(writer({ conversationId, turnId, epoch }), call, decision);
    return { ...address, duplicate: false, decided };
  });
}

async function findCall(sql: Transaction, decision: DecisionToMake): Promise<CallRow> {
  const { conversationId, call, decisionId, kind } = decision;
  const rows = await sql<CallRow[]>`
    select d.turn_id, d.call_number, d.call_index, d.kind, d.tool, d.rule, d.state, d.decision_id,
      d.expires_at <= holdfast_now() as overdue
    from decisions d join turns t on t.id = d.turn_id
    where d.conversation_id = ${conversationId} and ${
      call === undefined
        ? sql`((d.state = 'waiting' and d.kind = ${kind}) or d.decision_id = ${decisionId})`
        : sql`d.call_number = ${call.callNumber} and d.call_index = ${call.callIndex}`
    }
    order by t.epoch desc, d.call_number, d.call_index`;
  const repeated = rows.find((row) => row.decision_id === decisionId);
  const [first, ...others] = rows;
  if (repeated !== undefined) return repeated;
  if (first === undefined) throw notFound(decision);
  if (call === undefined && others.length > 0) {
    const list = rows.map((row) => `${row.call_number}.${row.call_index} (${row.tool})`).join(', ');
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
    where turn_id = ${turn.turnId} and state = 'waiting' and ((call_number = ${call.call_number} and call_index = ${call.call_index})
      or (${wide} and kind = 'approval' and rule = ${call.rule}))
    returning call_number, call_index, tool`;
  for (const row of rows) {
    const data = { callNumber: row.call_number, callIndex: row.call_index, name: row.tool, decision: state, scope };
    await event('decision_made', data);
  }
  if (scope === 'agent') await letStand(sql, call);
  return rows.length;
}

/** What was just decided on the call holds for all turns of its agent, under its rule, in place of what stood before. */
async function letStand(
  sql: Transaction,
  { turn_id: turnId, call_number: number, call_index: index }: CallRow,
): Promise<void> {
  await sql`
    insert into standing_decisions (agent, rule, state, decided_at, turn_id, call_number, call_index)
    select agent, rule, state, decided_at, turn_id, call_number, call_index from decisions
    where turn_id = ${turnId} and call_number = ${number} and call_index = ${index}
    on conflict (agent, rule) do update set (state, decided_at, turn_id, call_number, call_index)
      = (excluded.state, excluded.decided_at, excluded.turn_id, excluded.call_number, excluded.call_index)`;
}

/**
 * What stands for all turns of the agent under this rule no longer does; calls ask again.
 * @throws StoreError `decision_not_found`
 */
export async function endStandingDecision(
  sql: Database,
  standing: { readonly agent: string; readonly rule: string },
): Promise<void> {
  const { agent, rule } = standing;
  const { count } = await sql`delete from standing_decisions where agent = ${agent} and rule = ${rule}`;
  if (count === 0)
    throw new StoreError('decision_not_found', `no decision stands for agent ${agent} and rule "${rule}"`);
}

function notFound({ conversationId, call, kind }: DecisionToMake): StoreError {
  const what = kind === 'approval' ? 'waits for an approval' : 'waits for an answer';
  const where = call === undefined ? 'nothing' : `no call ${call.callNumber}.${call.callIndex}`;
  return new StoreError('decision_not_found', `${where} in conversation ${conversationId} ${what}`);
}

function wrongKind({ call_number: number, call_index: index, kind }: CallRow): StoreError {
  const what = kind === 'question' ? 'asks a question: answer it' : 'asks for an approval: approve or deny it';
  return new StoreError('decision_not_found', `call ${number}.${index} ${what}`);
}

function stale({ call_number: number, call_index: index, state, tool }: CallRow): StoreError {
  const fate = state === 'waiting' ? 'expired' : state;
  return new StoreError(
    'decision_stale',
    `call ${number}.${index} (${tool}) is ${fate} already: the decision came too late`,
  );
}
