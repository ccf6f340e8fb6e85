import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import { COUNTED_OF_CONVERSATION, DEFAULT_NOTE_AT, raisedLimits, resumedLimits } from '../turn/spending.ts';
import type { ConversationCounts, Counts, Spending, SpendingLimits } from '../turn/spending.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database, Fragment, Queries, Transaction } from './database.ts';

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

/** From the turn's begin to its end or now, without the times in which it waited for people: a night is not work. */
function workedSeconds(sql: Queries): Fragment {
  return sql`(extract(epoch from coalesce(t.ended_at, holdfast_now()) - t.begun_at) - coalesce((
    select sum(extract(epoch from upper(waited.during) - lower(waited.during)))
    from unnest((
      select range_agg(tstzrange(d.requested_at, greatest(d.requested_at, coalesce(d.decided_at, holdfast_now()))))
      from decisions d where d.turn_id = t.id)) as waited (during)), 0))::float8`;
}

/** Counted from the ledgers, summaries and calls paid twice included, so no crash and no continue-as-new resets a limit. */
export async function readTurnCounts(sql: Queries, turnId: string): Promise<Counts> {
  const [row] = await sql<CountColumns[]>`
    select (select count(*) from model_calls m where m.turn_id = t.id and m.entry_id is not null)::int as steps,
      (select count(*) from tool_calls k where k.turn_id = t.id)::int as tool_calls,
      t.input_tokens::float8, t.output_tokens::float8, t.cost::float8,
      ${workedSeconds(sql)} as wall_time
    from turns t where t.id = ${turnId}`;
  return toCounts(row);
}

/** What turn and conversation have used; the conversation's is looked up only when it is limited. */
export async function readSpending(
  sql: Database,
  { conversationId, turnId }: TurnReference,
  limits: SpendingLimits,
): Promise<Spending> {
  const turn = await readTurnCounts(sql, turnId);
  if (Object.keys(limits.conversation).length === 0) return { turn, conversation: { ...turn, idleTime: 0 } };
  const [row] = await sql<(CountColumns & { readonly idle_time: number | null })[]>`
    select (select count(*) from model_calls m where m.conversation_id = c.id and m.entry_id is not null)::int as steps,
      (select count(*) from turns t join tool_calls k on k.turn_id = t.id where t.conversation_id = c.id)::int as tool_calls,
      c.input_tokens::float8, c.output_tokens::float8, c.cost::float8,
      (select sum(${workedSeconds(sql)}) from turns t where t.conversation_id = c.id)::float8 as wall_time,
      (select extract(epoch from t.begun_at - m.ended_at) from turns t join model_calls m on m.conversation_id = c.id
       where t.id = ${turnId} and m.entry_id is not null and m.started_at < t.begun_at
       order by m.started_at desc limit 1)::float8 as idle_time
    from conversations c where c.id = ${conversationId}`;
  return { turn, conversation: { ...toCounts(row), idleTime: Math.max(0, row?.idle_time ?? 0) } };
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
