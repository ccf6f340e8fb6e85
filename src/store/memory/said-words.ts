import { attachedFile, textOf } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { Queries } from '../database/database.ts';

/** Messages that one query reads. */
const MESSAGES_PER_PAGE = 50;

interface SaidMessage {
  readonly text: string;
  readonly entryId: string;
}

/**
 * Pages of what the user said in a conversation, on all branches, newest first; for telling whose words a text repeats. Without files
 * that came with a message, and without imported messages: whoever said those did not say them here.
 */
export async function* readSaidWords(
  sql: Queries,
  conversationId: string,
): AsyncGenerator<readonly SaidMessage[], void, undefined> {
  let before: number | null = null;
  for (;;) {
    // Without images and files, which are large; by the beginning of a part, as Postgres cannot read a member of what holds NUL.
    const rows: { id: string; sequence: number; content: readonly ContentPart[] }[] = await sql`
      select e.id, e.sequence, (
          select coalesce(json_agg(part), '[]') from json_array_elements(e.content) as parts (part)
          where left(part::text, 40) !~ '^\\s*\\{\\s*"type"\\s*:\\s*"(image|file)"') as content
      from entries e join conversations c on c.id = e.conversation_id
      where e.conversation_id = ${conversationId} and e.kind = 'user' and e.sequence > coalesce(c.imported_through, 0)
        ${before === null ? sql`` : sql`and e.sequence < ${before}`}
      order by e.sequence desc limit ${MESSAGES_PER_PAGE}`;
    yield rows.map(({ id, content }) => {
      return { entryId: id, text: textOf(content.filter((part) => attachedFile(part) === null)) };
    });
    if (rows.length < MESSAGES_PER_PAGE) return;
    before = rows.at(-1)?.sequence ?? null;
  }
}
