import { pathsInArguments } from '../../context/log/readable-text.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { Database } from '../database/database.ts';

/** More names than this are a listing, not files that are worked on. */
const FILES_MAXIMUM = 40;

/** How many of the newest entries make a file active (C22). */
const NEWEST = 4;

/**
 * Entries before the newest ones that name files of these. A file is active when one of the newest entries calls a tool with its path.
 *
 * @param request.sequences of the view, oldest first
 */
export async function readActiveEntryIds(
  sql: Database,
  request: { readonly conversationId: string; readonly sequences: readonly number[] },
): Promise<ReadonlySet<string>> {
  const { conversationId, sequences } = request;
  const newest = sequences.slice(-NEWEST);
  const older = sequences.slice(0, -NEWEST);
  if (older.length === 0) return new Set();
  const rows = await sql<{ content: readonly ContentPart[] }[]>`
    select content from entries
    where conversation_id = ${conversationId} and kind = 'assistant' and sequence = any(${newest}::int[])`;
  const paths = rows.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'tool_call' ? pathsInArguments(part.arguments) : [])),
  );
  const files = [...new Set(paths)].slice(0, FILES_MAXIMUM);
  if (files.length === 0) return new Set();
  const found = await sql<{ id: string }[]>`
    select e.id from entries e
    where e.conversation_id = ${conversationId} and e.sequence = any(${older}::int[]) and e.kind in ('assistant', 'user')
      and exists (select from unnest(${files.map(inJson)}::text[]) as file (path) where strpos(e.content::text, file.path) > 0)`;
  return new Set(found.map(({ id }) => id));
}

/** A path as it stands in a content: a string in JSON, or in JSON within a string. */
function inJson(path: string): string {
  return JSON.stringify(path).slice(1, -1);
}
