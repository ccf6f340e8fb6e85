import type { RequestDecisionsResult } from '../../turn/activity-values.ts';
import { writeCallName } from '../../turn/call-name.ts';
import type { CallName } from '../../turn/call-name.ts';
import type { Fragment, Queries } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { turnNumber, turnNumbered } from '../turns/turn-number.ts';

export type DecisionKind = 'approval' | 'question';

/** `expired`: by time, which counts as a denial. `withdrawn`: the turn ended first. */
export type DecisionState = 'waiting' | 'approved' | 'denied' | 'answered' | 'expired' | 'withdrawn';

/** How far a decision reaches: the call, all calls of the turn under the same rule, or those of all turns of the agent. */
export type DecisionScope = 'call' | 'turn' | 'agent';

export interface Decision {
  readonly kind: DecisionKind;
  readonly state: DecisionState;
  readonly text: string | null;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

/** Of `decisions d`: a `Decision`. */
export function decisionColumns(sql: Queries): Fragment {
  return sql`json_build_object('kind', d.kind, 'state', d.state, 'text', d.content,
    'requestedAt', iso_time(d.requested_at), 'expiresAt', iso_time(d.expires_at))`;
}

export async function readDecision(
  sql: Queries,
  call: { readonly turnId: string; readonly callNumber: number; readonly callIndex: number },
): Promise<Decision | null> {
  const [row] = await sql<{ decision: Decision }[]>`
    select ${decisionColumns(sql)} as decision from decisions d
    where turn_id = ${call.turnId} and call_number = ${call.callNumber} and call_index = ${call.callIndex}`;
  return row?.decision ?? null;
}

interface WaitingDecision {
  readonly turnId: string;
  /** Its name in the conversation, as in `3.2.0`. */
  readonly call: string;
  readonly kind: DecisionKind;
  readonly tool: string;
  readonly rules: readonly string[];
  readonly arguments: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

type DecisionOfAgent = WaitingDecision & { readonly conversationId: string; readonly agent: string };

async function waitingRows(sql: Queries, where: Fragment): Promise<DecisionOfAgent[]> {
  const rows = await sql<(Omit<DecisionOfAgent, 'call'> & { readonly call: CallName })[]>`
    select d.conversation_id, d.agent, d.turn_id,
      json_build_object('turnNumber', ${turnNumber(sql)}, 'callNumber', d.call_number, 'callIndex', d.call_index) as call,
      d.kind, d.tool, d.rules, c.arguments, iso_time(d.requested_at) as "requestedAt", iso_time(d.expires_at) as "expiresAt"
    from decisions d join tool_calls c using (conversation_id, turn_id, call_number, call_index)
      join turns t on t.id = d.turn_id join conversations v on v.id = d.conversation_id
    where d.state = 'waiting' and ${where}`;
  return rows.map((row) => Object.assign(row, { call: writeCallName(row.call) }));
}

export async function listWaitingDecisions(sql: Queries, conversationId: string): Promise<WaitingDecision[]> {
  if (!isId(conversationId)) return [];
  const rows = await waitingRows(sql, sql`d.conversation_id = ${conversationId} order by d.call_number, d.call_index`);
  return rows.map(({ conversationId: _id, agent: _agent, ...row }) => row);
}

/** A call of any conversation. */
export interface CallOfConversation extends CallName {
  readonly conversationId: string;
}

/** The rest of a query for the place of a decision in a list. */
function placeOf(sql: Queries, call: CallOfConversation): Fragment {
  return sql`a.conversation_id, a.call_number, a.call_index from decisions a
    where a.turn_id = ${turnNumbered(sql, call.conversationId, call.turnNumber)}
      and a.call_number = ${call.callNumber} and a.call_index = ${call.callIndex}`;
}

/**
 * Of all conversations of a tenant, the one that waits longest first.
 * @param page.after the last call of the page before, whether it still waits or not
 */
export async function listDecisionsOfTenant(
  sql: Queries,
  { tenant, limit, after }: { readonly tenant: string; readonly limit: number; readonly after?: CallOfConversation },
): Promise<DecisionOfAgent[]> {
  if (after !== undefined && !isId(after.conversationId)) return [];
  const isLater =
    after === undefined
      ? sql``
      : sql`and (d.requested_at, d.conversation_id, d.call_number, d.call_index) > (
          select a.requested_at, ${placeOf(sql, after)})`;
  return waitingRows(
    sql,
    sql`v.tenant = ${tenant} ${isLater}
      order by d.requested_at, d.conversation_id, d.call_number, d.call_index limit ${limit}`,
  );
}

type MadeDecisionOfAgent = Omit<DecisionOfAgent, 'requestedAt' | 'expiresAt'> & {
  readonly decision: Extract<DecisionState, 'approved' | 'denied' | 'answered' | 'expired'>;
  /** `null`: expired. */
  readonly scope: DecisionScope | null;
  readonly text: string | null;
  readonly decidedBy: string | null;
  readonly decidedAt: string;
  /** An earlier decision for the turn or the agent covered it. */
  readonly covered: boolean;
};

/** Of all conversations of a tenant, newest first. @param page.before the last call of the page before */
export async function listMadeDecisions(
  sql: Queries,
  { tenant, limit, before }: { readonly tenant: string; readonly limit: number; readonly before?: CallOfConversation },
): Promise<MadeDecisionOfAgent[]> {
  if (before !== undefined && !isId(before.conversationId)) return [];
  const isEarlier =
    before === undefined
      ? sql``
      : sql`and (d.decided_at, d.conversation_id, d.call_number, d.call_index) < (
          select a.decided_at, ${placeOf(sql, before)})`;
  const rows = await sql<(Omit<MadeDecisionOfAgent, 'call'> & { readonly call: CallName })[]>`
    select d.conversation_id, d.agent, d.turn_id,
      json_build_object('turnNumber', ${turnNumber(sql)}, 'callNumber', d.call_number, 'callIndex', d.call_index) as call,
      d.kind, d.tool, d.rules, c.arguments, d.state as decision, d.scope, d.content as text, d.decided_by,
      iso_time(d.decided_at) as "decidedAt", d.scope is not null and d.decision_id is null as covered
    from decisions d join tool_calls c using (conversation_id, turn_id, call_number, call_index)
      join turns t on t.id = d.turn_id join conversations v on v.id = d.conversation_id
    where d.state in ('approved', 'denied', 'answered', 'expired') and v.tenant = ${tenant} ${isEarlier}
    order by d.decided_at desc, d.conversation_id desc, d.call_number desc, d.call_index desc limit ${limit}`;
  return rows.map((row) => Object.assign(row, { call: writeCallName(row.call) }));
}

export async function countWaitingDecisions(sql: Queries, turnId: string): Promise<RequestDecisionsResult> {
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

export type StandingState = Extract<DecisionState, 'approved' | 'denied'>;
