import { writeCallName } from '../../turn/call-name.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { isoTime } from '../log/stored-text.ts';
import { turnNumber } from '../turns/turn-number.ts';

/** May the tool run, or what does the user answer? */
export type DecisionKind = 'approval' | 'question';

/** `expired`: by time, which counts as a denial. `withdrawn`: the turn ended first. */
export type DecisionState = 'waiting' | 'approved' | 'denied' | 'answered' | 'expired' | 'withdrawn';

/** How far a decision reaches: the call, all calls of the turn under the same rule, or those of all turns of the agent. */
export type DecisionScope = 'call' | 'turn' | 'agent';

/** What stands of a call that a person decides on. */
export interface Decision {
  readonly kind: DecisionKind;
  readonly state: DecisionState;
  /** Reason of a denial or answer to the question. */
  readonly text: string | null;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

/** `null`: the call never asked. */
export async function readDecision(
  sql: Queries,
  call: { readonly turnId: string; readonly callNumber: number; readonly callIndex: number },
): Promise<Decision | null> {
  const [row] = await sql<
    { kind: DecisionKind; state: DecisionState; content: string | null; requested_at: Date; expires_at: Date }[]
  >`
    select kind, state, content, requested_at, expires_at from decisions
    where turn_id = ${call.turnId} and call_number = ${call.callNumber} and call_index = ${call.callIndex}`;
  if (row === undefined) return null;
  const { kind, state, content: text } = row;
  return { kind, state, text, requestedAt: isoTime(row.requested_at), expiresAt: isoTime(row.expires_at) };
}

/** A tool call that waits for a person. */
interface WaitingDecision {
  readonly turnId: string;
  /** Its name in the conversation, as in `3.2.0`. */
  readonly call: string;
  readonly kind: DecisionKind;
  readonly tool: string;
  /** All that made it ask. */
  readonly rules: readonly string[];
  /** As the model wrote them. */
  readonly arguments: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

interface WaitingColumns {
  readonly conversation_id: string;
  readonly agent: string;
  readonly turn_id: string;
  readonly turn_number: number;
  readonly call_number: number;
  readonly call_index: number;
  readonly kind: DecisionKind;
  readonly tool: string;
  readonly rules: readonly string[];
  readonly arguments: string;
  readonly requested_at: Date;
  readonly expires_at: Date;
}

function waitingRows(sql: Queries, where: Fragment) {
  return sql<WaitingColumns[]>`
    select d.conversation_id, d.agent, d.turn_id, ${turnNumber(sql)} as turn_number, d.call_number, d.call_index, d.kind,
      d.tool, d.rules, c.arguments, d.requested_at, d.expires_at
    from decisions d join tool_calls c using (conversation_id, turn_id, call_number, call_index)
      join turns t on t.id = d.turn_id join conversations v on v.id = d.conversation_id
    where d.state = 'waiting' and ${where}`;
}

function waitingDecision(row: WaitingColumns): WaitingDecision {
  return {
    turnId: row.turn_id,
    call: writeCallName({ turnNumber: row.turn_number, callNumber: row.call_number, callIndex: row.call_index }),
    kind: row.kind,
    tool: row.tool,
    rules: row.rules,
    arguments: row.arguments,
    requestedAt: isoTime(row.requested_at),
    expiresAt: isoTime(row.expires_at),
  };
}

/** In the order of the calls. */
export async function listWaitingDecisions(sql: Queries, conversationId: string): Promise<WaitingDecision[]> {
  if (!isId(conversationId)) return [];
  const rows = await waitingRows(sql, sql`d.conversation_id = ${conversationId} order by d.call_number, d.call_index`);
  return rows.map(waitingDecision);
}

/** Of all conversations of a tenant, the one that waits longest first. */
export async function listDecisionsOfTenant(
  sql: Queries,
  { tenant, limit }: { readonly tenant: string; readonly limit: number },
): Promise<(WaitingDecision & { readonly conversationId: string; readonly agent: string })[]> {
  const rows = await waitingRows(
    sql,
    sql`v.tenant = ${tenant} order by d.requested_at, d.conversation_id, d.call_number, d.call_index limit ${limit}`,
  );
  return rows.map((row) =>
    Object.assign(waitingDecision(row), { conversationId: row.conversation_id, agent: row.agent }),
  );
}

/** What still waits in a turn. */
export async function countWaitingDecisions(
  sql: Queries,
  turnId: string,
): Promise<{ readonly waiting: number; readonly questions: number; readonly expiresInMilliseconds: number }> {
  const [row] = await sql<{ waiting: number; questions: number; milliseconds: number | null }[]>`
    select count(*)::int as waiting, (count(*) filter (where kind = 'question'))::int as questions,
      ceil(extract(epoch from min(expires_at) - holdfast_now()) * 1000)::float8 as milliseconds
    from decisions where turn_id = ${turnId} and state = 'waiting'`;
  return {
    waiting: row?.waiting ?? 0,
    questions: row?.questions ?? 0,
    expiresInMilliseconds: Math.max(0, row?.milliseconds ?? 0),
  };
}

/** What a person said to calls of a rule. */
export type StandingState = Extract<DecisionState, 'approved' | 'denied'>;
