import type { RecalledEntry } from '../../tools/tool.ts';
import type { Database } from '../database/database.ts';
import { listEntriesAround } from './entries.ts';
import { entryText } from './entry-text.ts';
import { isId } from '../database/ids.ts';

/**
 * The entries around an entry on its branch, itself included, oldest first; around a summary those that stand where it was
 * made. `null` when the conversation has no such entry or summary.
 * @param request.count entries before, and as many after
 */
export async function openAround(
  sql: Database,
  request: { readonly conversationId: string; readonly id: string; readonly count: number },
): Promise<readonly RecalledEntry[] | null> {
  const { conversationId, id, count } = request;
  if (!isId(conversationId) || !isId(id)) return null;
  const [found] = await sql<{ id: string }[]>`
    select id from entries where id = ${id} and conversation_id = ${conversationId}
    union all
    select id from compactions
    where id = ${id} and conversation_id = ${conversationId} and status = 'committed'`;
  if (found === undefined) return null;
  const entries = await listEntriesAround(sql, found.id, count);
  return entries.map((entry) => ({
    entryId: entry.id,
    kind: entry.kind,
    toolName: entry.toolName ?? null,
    createdAt: entry.createdAt,
    text: entryText(entry.content),
    isClipped: entry.original !== undefined,
  }));
}
