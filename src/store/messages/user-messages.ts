import type { Entry } from '../../context/log/entry.ts';
import { onPath, pointAt } from '../conversations/branch-path.ts';
import type { Database } from '../database/database.ts';
import { entryColumns, toEntry } from '../log/entry-rows.ts';
import type { EntryColumns } from '../log/entry-rows.ts';

/**
 * User messages of a branch up to an entry, newest first: as many as `characters` may hold, and one more.
 * @throws StoreError `entry_not_found`
 */
export async function readUserMessages(
  sql: Database,
  request: {
    readonly conversationId: string;
    readonly headEntryId: string;
    readonly throughSequence: number;
    /** Characters of all messages together, at most. */
    readonly characters: number;
  },
): Promise<Entry[]> {
  const { conversationId, headEntryId, throughSequence, characters } = request;
  const point = await pointAt(sql, { conversationId, headEntryId });
  const rows = await sql<EntryColumns[]>`
    select ${entryColumns(sql)} from entries e left join contents o on o.id = e.original_id
    where ${onPath(sql, point)} and e.kind = 'user' and e.sequence <= ${throughSequence}
      and e.sequence >= coalesce((
        select sized.sequence from (
          select e.sequence, sum(length(e.content::text)) over (order by e.sequence desc) as total from entries e
          where ${onPath(sql, point)} and e.kind = 'user' and e.sequence <= ${throughSequence}) as sized
        where sized.total > ${characters} order by sized.sequence desc limit 1), 0)
    order by e.sequence desc`;
  return rows.map(toEntry);
}
