import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import { COUNTED_OF_CONVERSATION, DEFAULT_NOTE_AT, raisedLimits, resumedLimits } from '../turn/spending.ts';
import type { ConversationCounts, ConversationRest, Counts, Spending, SpendingLimits } from '../turn/spending.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Queries, Transaction } from './database.ts';

type Raise = Partial<ConversationCounts>;

/**
 * What a turn that begins may use: what is configured, the conversation's limits with every raise so far. With a `resume`
 * it goes on where the newest turn ended: what that one left, and this raise. `null`: only its steps are limited.
 */
export async function limitsOfNewTurn(
  sql: Transaction,
  begin: { readonly conversationId: string; readonly snapshot: AgentSnapshot; readonly resumes: readonly string[] },
): Promise<SpendingLimits | null> {
  const { conversationId, snapshot, resumes } = begin;
  const configured = snapshot.limits.spending;
  if (configured === undefined && resumes.length === 0) return null;
  const base = configured ?? { turn: {}, conversation: {}, noteAt: DEFAULT_NOTE_AT };
  // Most turns begin with neither a raise nor a limit that one could have raised.
  if (resumes.length === 0 && Object.keys(base.conversation).length === 0) return base;
  const raises = await sql<{ id: string; raise: Raise }[]>`
    select id, raise from messages where conversation_id = ${conversationId} and raise is not null`;
  const conversation = raisedLimits(base.conversation, sum(raises.map(({ raise }) => raise)));
  if (resumes.length === 0) return { ...base, conversation };
  const now = sum(raises.filter(({ id }) => resumes.includes(id)).map(({ raise }) => raise));
  const [previous] = await sql<{ id: string; limits: SpendingLimits | null; steps: number }[]>`
    select id, limits, (snapshot -> 'limits' ->> 'steps')::float8 as steps from turns
    where conversation_id = ${conversationId} and not command_only order by epoch desc limit 1`;
  if (previous === undefined) return { ...base, conversation };
  const used = await readTurnCounts(sql, previous.id);
  const turn = resumedLimits(previous.limits?.turn ?? { steps: previous.steps }, used, now);
  return { ...base, turn, conversation };
}

function sum(raises: readonly Raise[]): Raise {
  return Object.fromEntries(
    COUNTED_OF_CONVERSATION.map((counted) => [
      counted,
      raises.reduce((total, raise) => total + (raise[counted] ?? 0), 0),
    ]),
  );
}

interface CountColumns {
  readonly steps: number;
  readonly tool_calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  readonly wall_time: number;
}

/** Kept with each answer, summaries and calls paid twice included, so no crash and no continue-as-new resets a limit. */
export async function readTurnCounts(sql: Queries, turnId: string): Promise<Counts> {
  const [row] = await sql<CountColumns[]>`
    select t.steps, t.tool_calls, t.input_tokens::float8, t.output_tokens::float8, t.cost::float8,
      worked_seconds(t) as wall_time
    from turns t where t.id = ${turnId}`;
  return toCounts(row);
}

/** What turn and conversation have used; the conversation's is looked up only when it is limited. Reads as much in the thousandth turn as in the first. */
export async function readSpending(
  sql: Queries,
  { conversationId, turnId }: TurnReference,
  limits: SpendingLimits,
): Promise<Spending> {
  const turn = await readTurnCounts(sql, turnId);
  const { conversation } = limits;
  if (Object.keys(conversation).length === 0) return { turn, conversation: { ...turn, idleTime: 0 } };
  const [row] = await sql<CountColumns[]>`
    select c.steps, c.tool_calls, c.input_tokens::float8, c.output_tokens::float8, c.cost::float8,
      c.worked_seconds + ${turn.wallTime} as wall_time
    from conversations c where c.id = ${conversationId}`;
  const idleTime = conversation.idleTime === undefined ? 0 : await readRest(sql, turnId);
  return { turn, conversation: { ...toCounts(row), idleTime } };
}

/** Seconds from the model's last answer to the beginning of the turn. */
async function readRest(sql: Queries, turnId: string): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from t.begun_at - m.ended_at)::float8 as seconds
    from turns t join model_calls m on m.conversation_id = t.conversation_id
    where t.id = ${turnId} and m.entry_id is not null and m.started_at < t.begun_at
    order by m.started_at desc limit 1`;
  return Math.max(0, row?.seconds ?? 0);
}

/** What the conversation's limits leave a turn that has just begun, of what is also watched between the checks before its steps. */
export async function readConversationRest(
  sql: Queries,
  turn: TurnReference,
  limits: SpendingLimits,
): Promise<ConversationRest> {
  const { toolCalls, wallTime } = limits.conversation;
  if (toolCalls === undefined && wallTime === undefined) return {};
  const { conversation: used } = await readSpending(sql, turn, limits);
  return {
    ...(toolCalls !== undefined && { toolCalls: Math.max(0, toolCalls - used.toolCalls) }),
    ...(wallTime !== undefined && { wallTime: Math.max(0, wallTime - used.wallTime) }),
  };
}

function toCounts(row: CountColumns | undefined): Counts {
  return {
    steps: row?.steps ?? 0,
    toolCalls: row?.tool_calls ?? 0,
    inputTokens: row?.input_tokens ?? 0,
    outputTokens: row?.output_tokens ?? 0,
    cost: row?.cost ?? 0,
    wallTime: row?.wall_time ?? 0,
  };
}
