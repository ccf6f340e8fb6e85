/** What a summary is made from: originals, calls and messages of the user. */
import type { LedgerResult } from '../../context/summary/summary-message.ts';
import { characterCount } from '../../context/log/measurements.ts';
import { onPath, pointAt } from '../conversations/branch-path.ts';
import type { Queries, Database } from '../database/database.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';
import type { Entry } from '../../context/log/entry.ts';
import { entryColumns, toEntry } from '../log/entry-rows.ts';
import type { EntryColumns } from '../log/entry-rows.ts';

export interface OriginalsRange {
  readonly conversationId: string;
  /** Whose branch is read: the head that the compaction was planned for. */
  readonly headEntryId: string;
  readonly fromSequence: number;
  readonly toSequence: number;
}

/** Entries per page of `readOriginals`: contents are a few kilobytes, and large ones are clipped when stored. */
const PAGE_ENTRIES = 100;

export async function* readOriginals(
  sql: Database,
  range: OriginalsRange,
): AsyncGenerator<readonly Entry[], void, undefined> {
  const { fromSequence, toSequence } = range;
  const point = await pointAt(sql, range);
  let after = fromSequence - 1;
  for (;;) {
    const rows = await sql<EntryColumns[]>`
      select ${entryColumns(sql)} from entries e left join contents o on o.id = e.original_id
      where ${onPath(sql, point)} and e.sequence > ${after} and e.sequence <= ${toSequence}
      order by e.sequence limit ${PAGE_ENTRIES}`;
    if (rows.length > 0) yield rows.map(toEntry);
    if (rows.length < PAGE_ENTRIES) return;
    after = rows.at(-1)?.sequence ?? toSequence;
  }
}

export async function readCallsOf(
  sql: Queries,
  range: OriginalsRange,
  names: readonly string[],
): Promise<readonly { readonly name: string; readonly arguments: string }[]> {
  const point = await pointAt(sql, range);
  return sql<{ name: string; arguments: string }[]>`
    select t.name, t.arguments from tool_calls t join entries e
      on e.conversation_id = t.conversation_id and e.id = t.entry_id
    where ${onPath(sql, point)} and e.sequence between ${range.fromSequence} and ${range.toSequence}
      and t.name = any(${[...names]}) order by e.sequence, t.call_index`;
}

/** Finished calls of a range with the size of their results, the newest so many, oldest first. */
export async function readResultsOf(
  sql: Queries,
  range: OriginalsRange,
  which: { readonly not: readonly string[]; readonly newest: number },
): Promise<readonly (Omit<LedgerResult, 'target'> & { readonly arguments: string })[]> {
  const point = await pointAt(sql, range);
  const rows = await sql<
    { tool: string; arguments: string; outcome: LedgerResult['outcome']; entryId: string; measurements: string }[]
  >`
    select t.name as tool, t.arguments, t.outcome, r.id as entry_id, r.measurements
    from tool_calls t
    join entries e on e.conversation_id = t.conversation_id and e.id = t.entry_id
    join entries r on r.conversation_id = t.conversation_id and r.id = t.result_entry_id
    where ${onPath(sql, point)} and e.sequence between ${range.fromSequence} and ${range.toSequence}
      and t.name <> all(${[...which.not]})
    order by e.sequence desc, t.call_index desc limit ${which.newest}`;
  return rows.toReversed().map(({ tool, outcome, entryId, measurements, arguments: written }) => ({
    tool,
    outcome,
    arguments: written,
    entryId,
    characters: characterCount(parseMeasurements(measurements)),
  }));
}

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
