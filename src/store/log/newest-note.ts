import type { ContentPart } from '../../context/log/content.ts';
import type { NoteSlot } from '../../context/log/entry.ts';
import type { Fragment, Queries } from '../database/database.ts';

/** From `entries e` of the active branch. */
export function ofActiveBranch(sql: Queries, conversationId: string): Fragment {
  return sql`
    from entries e
    join branches b
      on b.conversation_id = e.conversation_id and b.ancestor = e.branch and e.sequence <= b.through_sequence
    join conversations c on c.id = e.conversation_id and c.branch = b.branch
    where e.conversation_id = ${conversationId}`;
}

export async function readNewestNote(
  sql: Queries,
  conversationId: string,
  slot: NoteSlot,
): Promise<readonly ContentPart[] | null> {
  const [row] = await sql<{ content: readonly ContentPart[] }[]>`
    select e.content ${ofActiveBranch(sql, conversationId)} and e.kind = 'note' and e.slot = ${slot}
    order by e.sequence desc limit 1`;
  return row?.content ?? null;
}
