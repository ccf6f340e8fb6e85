import type { TurnOutcome } from '../../turn/turn-reference.ts';
import type { Fragment, Queries } from '../database/database.ts';

/** The newest turn on the path of a branch that was more than a command: the task that a resume there goes on with. */
export interface BranchTask {
  readonly branch: number;
  readonly active: boolean;
  readonly turnId: string;
  readonly outcome: TurnOutcome | null;
  readonly reason: string | null;
  /** It completed, and the path holds its answer: forked before that, the branch has only what was asked. */
  readonly isDone: boolean;
}

/**
 * Newest activity first; a branch on whose path nothing was asked has none. What a turn says before it knows what is asked, as
 * rules, and what a command leaves is no part of a task; a turn that resumed one begins with a note.
 */
export async function readBranchTasks(sql: Queries, conversationId: string): Promise<BranchTask[]> {
  return readTasks(sql, conversationId, sql`true`);
}

/** That of the branch that the conversation goes on with; reads as much with a thousand other branches as with none. */
export async function readActiveTask(sql: Queries, conversationId: string): Promise<BranchTask | null> {
  const [task] = await readTasks(sql, conversationId, sql`own.branch = c.branch`);
  return task ?? null;
}

async function readTasks(sql: Queries, conversationId: string, wanted: Fragment): Promise<BranchTask[]> {
  return sql<BranchTask[]>`
    select own.branch, own.branch = c.branch as active, t.id as "turnId", t.outcome, t.reason,
      coalesce(t.outcome = 'completed' and coalesce(t.reason, '') not in ('answer_cut', 'answer_paused'), false)
        and (answer.sequence is null or exists (
          select from branches b where b.conversation_id = c.id and b.branch = own.branch and b.ancestor = answer.branch
            and answer.sequence <= b.through_sequence)) as "isDone"
    from conversations c
    join branches own on own.conversation_id = c.id and own.ancestor = own.branch
    cross join lateral (
      select e.turn_id, e.sequence from entries e
      join branches b on b.conversation_id = e.conversation_id and b.branch = own.branch and b.ancestor = e.branch
        and e.sequence <= b.through_sequence
      where e.conversation_id = c.id
        and (e.kind in ('user', 'assistant', 'tool_result') or e.kind = 'note' and e.note_key = 'resumed')
      order by e.sequence desc limit 1) as newest
    join turns t on t.id = newest.turn_id
    left join lateral (
      select a.branch, a.sequence from entries a where a.turn_id = t.id and a.kind = 'assistant'
      order by a.call_number desc limit 1) as answer on true
    where c.id = ${conversationId} and ${wanted}
    order by newest.sequence desc`;
}
