import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { COUNTED_OF_CONVERSATION, raiseOfConversation, raisedLimits, resumedLimits } from '../../turn/spending.ts';
import type {
  ConversationCounts,
  Counts,
  EndedSpending,
  Spending,
  SpendingLimits,
  TimeUse,
} from '../../turn/spending.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { readActiveTask } from '../conversations/branches.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { jsonText } from '../log/stored-text.ts';
import { staleEpoch } from '../messages/waiting.ts';

type Raise = Partial<ConversationCounts>;

/**
 * What a turn that begins may use: what is configured, the conversation's limits with every raise of them so far. With a `resume`
 * it goes on where the task of its branch ended: what that turn left, within what was configured since, and this raise; what of it counts for the conversation is kept
 * with it.
 */
export async function limitsOfNewTurn(
  sql: Transaction,
  begin: { readonly conversationId: string; readonly snapshot: AgentSnapshot; readonly resumes: readonly string[] },
): Promise<SpendingLimits> {
  const { conversationId, snapshot, resumes } = begin;
  const base = snapshot.limits.spending ?? onlySteps(snapshot.limits.steps);
  // Most turns begin with neither a raise nor a limit that one could have raised.
  if (resumes.length === 0 && Object.keys(base.conversation).length === 0) return base;
  const raises = await sql<{ id: string; raise: Raise; counts: Raise }[]>`
    select id, raise, coalesce(conversation_raise, raise) as counts from messages
    where conversation_id = ${conversationId} and raise is not null`;
  const earlier = raises.filter(({ id }) => !resumes.includes(id));
  const before = { ...base, conversation: raisedLimits(base.conversation, sum(earlier.map(({ counts }) => counts))) };
  if (resumes.length === 0) return before;
  const task = await readActiveTask(sql, conversationId);
  if (task === null) return before;
  const ended = await readEndedTurn(sql, task.turnId);
  const now = raises.filter(({ id }) => resumes.includes(id));
  const counts = now.map(({ raise }) => raiseOfConversation({ ...ended, limits: before }, raise));
  for (const [index, { id }] of now.entries())
    await sql`
      update messages set conversation_raise = ${jsonText(counts[index])}::text::json
      where conversation_id = ${conversationId} and id = ${id}`;
  return {
    ...base,
    turn: resumedLimits(
      base.turn,
      { limits: ended.limits.turn, used: ended.used.turn, configured: ended.configured },
      sum(now.map(({ raise }) => raise)),
    ),
    conversation: raisedLimits(before.conversation, sum(counts)),
  };
}

/** What the turn may use. @throws StoreError `turn_not_found` */
export async function readLimits(sql: Queries, { turnId }: TurnReference): Promise<SpendingLimits> {
  const [row] = await sql<{ limits: SpendingLimits }[]>`select limits from turns where id = ${turnId}`;
  if (row === undefined) throw new StoreError('turn_not_found', `there is no turn ${turnId}`);
  return row.limits;
}

/** Where nothing else was configured. Nobody is told of them before they are reached. */
export function onlySteps(steps: number): SpendingLimits {
  return { turn: { steps }, conversation: {}, noteAt: 1 };
}

/**
 * How a turn ended, or stands if it is open.
 * @returns `configured`: limits of the turn as its agent had them when it began
 * @throws StoreError `turn_not_found`
 */
export async function readEndedTurn(
  sql: Queries,
  turnId: string,
): Promise<EndedSpending & { readonly configured: Partial<Counts> }> {
  const [row] = await sql<
    {
      conversationId: string;
      ended: boolean;
      reason: string | null;
      limits: SpendingLimits;
      steps: number;
      configured: Partial<Counts> | null;
    }[]
  >`
    select conversation_id, ended_at is not null as ended, case when outcome = 'budget_exhausted' then reason end as reason,
      limits, (s.content -> 'limits' ->> 'steps')::float8 as steps, s.content -> 'limits' -> 'spending' -> 'turn' as configured
    from turns join agent_snapshots s on s.hash = snapshot_hash where id = ${turnId}`;
  if (row === undefined) throw new StoreError('turn_not_found', `there is no turn ${turnId}`);
  const { reason, limits, steps } = row;
  const turn = await readTurnCounts(sql, turnId);
  const conversation = await readConversationCounts(sql, row.conversationId, row.ended ? 0 : turn.wallTime);
  const used = { turn, conversation: { ...conversation, idleTime: 0 } };
  return { reason, limits, used, configured: row.configured ?? { steps } };
}

function sum(raises: readonly Raise[]): Raise {
  return Object.fromEntries(
    COUNTED_OF_CONVERSATION.map((counted) => [
      counted,
      raises.reduce((total, raise) => total + (raise[counted] ?? 0), 0),
    ]),
  );
}

const NO_COUNTS: Counts = { steps: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, cost: 0, wallTime: 0 };

/** Kept with each answer, summaries and calls paid twice included, so no crash and no continue-as-new resets a limit. */
export async function readTurnCounts(sql: Queries, turnId: string): Promise<Counts> {
  const [row] = await sql<Counts[]>`
    select u.steps, u.tool_calls, u.input_tokens::float8, u.output_tokens::float8, u.cost::float8,
      worked_seconds(t) as wall_time
    from turns t join turn_usage u on u.turn_id = t.id where t.id = ${turnId}`;
  return row ?? NO_COUNTS;
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
  const idleTime = conversation.idleTime === undefined ? 0 : await readRest(sql, turnId);
  return { turn, conversation: { ...(await readConversationCounts(sql, conversationId, turn.wallTime)), idleTime } };
}

/** @param open seconds that an open turn has worked: only those of ended ones are in the total */
async function readConversationCounts(sql: Queries, conversationId: string, open: number): Promise<Counts> {
  const [row] = await sql<Counts[]>`
    select c.steps, c.tool_calls, c.input_tokens::float8, c.output_tokens::float8, c.cost::float8,
      c.worked_seconds + ${open} as wall_time
    from conversations c where c.id = ${conversationId}`;
  return row ?? NO_COUNTS;
}

/**
 * Seconds from the model's last answer to the beginning of the turn. What came before a resume does not count: somebody has said
 * that the conversation goes on.
 */
async function readRest(sql: Queries, turnId: string): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from t.begun_at - greatest(m.ended_at, (
        select max(r.created_at) from messages r
        where r.conversation_id = t.conversation_id and r.turn_id = t.id and r.kind = 'resume')))::float8 as seconds
    from turns t
    join turns before on before.conversation_id = t.conversation_id and before.epoch < t.epoch
    join lateral (
      select ended_at from model_attempts
      where conversation_id = t.conversation_id and turn_id = before.id and entry_id is not null order by call_number desc limit 1) as m on true
    where t.id = ${turnId}
    order by before.epoch desc limit 1`;
  return Math.max(0, row?.seconds ?? 0);
}

/**
 * Seconds that an open turn and its conversation have worked, waits for people left out, and since its newest news: an answer or a
 * summary of a model, a result of a tool, a message or a decision. None while people decide.
 */
export async function readTimeUse(sql: Queries, turn: TurnReference): Promise<TimeUse> {
  const { conversationId, turnId } = turn;
  const [row] = await sql<({ epoch: number } & TimeUse)[]>`
    select c.epoch, worked_seconds(t) as turn, c.worked_seconds + worked_seconds(t) as conversation,
      greatest(0, extract(epoch from holdfast_now() - greatest(t.begun_at, (
        select max(m.ended_at) from model_attempts m
        where m.conversation_id = t.conversation_id and m.turn_id = t.id and m.state = 'answered'), (
        select max(k.finished_at) from tool_calls k
        where k.conversation_id = t.conversation_id and k.turn_id = t.id), (
        select max(g.consumed_at) from messages g where g.conversation_id = t.conversation_id and g.turn_id = t.id), (
        select max(coalesce(d.decided_at, holdfast_now())) from decisions d where d.turn_id = t.id))))::float8 as idle
    from turns t join conversations c on c.id = t.conversation_id
    where t.id = ${turnId} and t.conversation_id = ${conversationId}`;
  if (row?.epoch !== turn.epoch) throw staleEpoch(turn, row?.epoch);
  return row;
}
