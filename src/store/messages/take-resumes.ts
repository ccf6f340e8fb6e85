import type { TurnReference } from '../../turn/turn-reference.ts';
import { readActiveTask } from '../conversations/branch-tasks.ts';
import type { Transaction } from '../database/database.ts';
import type { NewContent } from '../log/entries.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { consumeCommands } from './commands.ts';

/**
 * Of the resumes that wait, those that a turn which begins is to take: all, or none when nothing of the task is left to go on with,
 * since a turn whose workflow is gone may still complete. Such a resume counts as served, as a stop of nothing does, and raises no limit.
 */
export async function resumesToTake(
  sql: Transaction,
  conversationId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return ids;
  const task = await readActiveTask(sql, conversationId);
  if (task !== null && !task.isDone) return ids;
  // The raises of a conversation are summed over its messages; one without this would count whole.
  await sql`
    update messages set conversation_raise = '{}'
    where conversation_id = ${conversationId} and id = any(${[...ids]}) and raise is not null`;
  await consumeCommands(sql, { conversationId, kind: 'resume', turnId: null, ids });
  return [];
}

export async function takeResumes(
  sql: Transaction,
  turn: TurnReference,
  { ids, note }: { readonly ids: readonly string[]; readonly note: NewContent },
): Promise<void> {
  if (ids.length === 0) return;
  const { conversationId, turnId } = turn;
  await insertEntry(sql, { ...note, kind: 'note', slot: 'continuation', turn, key: 'resumed' });
  await consumeCommands(sql, { conversationId, kind: 'resume', turnId, ids });
}
