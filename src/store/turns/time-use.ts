import type { TimeUse } from '../../turn/spending.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Queries } from '../database/database.ts';
import { staleEpoch } from '../messages/waiting.ts';

/**
 * Seconds that an open turn and its conversation have worked, waits for people left out, and since its newest news: an answer or a
 * summary of a model, a result of a tool, a message or a decision.
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
        select max(d.decided_at) from decisions d where d.turn_id = t.id))))::float8 as idle
    from turns t join conversations c on c.id = t.conversation_id
    where t.id = ${turnId} and t.conversation_id = ${conversationId}`;
  if (row?.epoch !== turn.epoch) throw staleEpoch(turn, row?.epoch);
  return row;
}
