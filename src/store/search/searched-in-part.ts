import type { PartlySearched } from '../../tools/tool.ts';
import type { Database } from '../database/database.ts';
import { INDEXED_CHARACTERS } from './passage-writer.ts';

/** Named to an agent: one that reads more at a time knows them all. */
const MOST_NAMED = 3;

/** The results whose end no search finds, newest first: only the beginning of a long one is indexed. */
export async function searchedInPart(sql: Database, conversationId: string): Promise<readonly PartlySearched[]> {
  // Apart: a conversation without such a result, as nearly all are, must not have its entries gone through.
  const long = await sql<{ id: string }[]>`
    select id from contents where conversation_id = ${conversationId} and characters > ${INDEXED_CHARACTERS}`;
  if (long.length === 0) return [];
  const rows = await sql<{ entryId: string; characters: number }[]>`
    select e.id as "entryId", l.characters::int as characters from contents l
    join entries e on e.conversation_id = ${conversationId} and e.original_id = l.id
    where l.id = any(${long.map(({ id }) => id)}::uuid[]) order by e.sequence desc limit ${MOST_NAMED}`;
  return rows.map((row) => Object.assign(row, { searched: INDEXED_CHARACTERS }));
}
