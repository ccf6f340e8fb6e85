import type { JsonValue } from '../context/compaction-hook.ts';
import type { FileLists } from '../context/file-lists.ts';
import { onPath } from './branch-path.ts';
import type { Queries } from './database.ts';

/** What a new summary is made on top of. */
export interface PreviousSummary {
  readonly compactionId: string;
  readonly text: string;
  readonly files: FileLists;
  /** What a hook stored with it. */
  readonly details: JsonValue;
}

/** The summary of a compaction; `null` without one. */
export async function readPreviousSummary(sql: Queries, compactionId: string | null): Promise<PreviousSummary | null> {
  if (compactionId === null) return null;
  const [row] = await sql<{ summary: string | null; files: FileLists | null; details: JsonValue }[]>`
    select summary, files, details from compactions where id = ${compactionId}`;
  if (row === undefined || row.summary === null) return null;
  return { compactionId, text: row.summary, files: row.files ?? { read: [], modified: [] }, details: row.details };
}

/** Calls of the named tools in a range of a branch, oldest first. */
export async function readCallsOf(
  sql: Queries,
  range: {
    readonly conversationId: string;
    readonly headEntryId: string;
    readonly fromSequence: number;
    readonly toSequence: number;
    readonly names: readonly string[];
  },
): Promise<readonly { readonly name: string; readonly arguments: string }[]> {
  const { conversationId, headEntryId, fromSequence, toSequence, names } = range;
  const [head] = await sql<{ branch: number; sequence: number }[]>`
    select branch, sequence from entries where conversation_id = ${conversationId} and id = ${headEntryId}`;
  if (head === undefined) return [];
  const point = { conversationId, headEntryId, branch: head.branch, headSequence: head.sequence, compactions: 0 };
  return sql<{ name: string; arguments: string }[]>`
    select t.name, t.arguments from tool_calls t join entries e on e.id = t.entry_id
    where ${onPath(sql, point)} and e.sequence between ${fromSequence} and ${toSequence}
      and t.name = any(${[...names]}) order by e.sequence, t.call_index`;
}
