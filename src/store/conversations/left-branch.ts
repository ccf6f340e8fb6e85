import { NOTHING_CHOSEN, chooseOfBranch } from '../../context/summary/branch-summary.ts';
import { FILE_TOOLS } from '../../context/policy/policy.ts';
import type { Entry, EntryKind } from '../../context/log/entry.ts';
import { extendFileLists } from '../../context/summary/summary-message.ts';
import type { FileLists } from '../../context/summary/summary-message.ts';
import { measureContent } from '../../context/log/measure.ts';
import { NO_MEASUREMENTS } from '../../context/log/measurements.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import type { Calibration } from '../../context/plan/plan.ts';
import { pointOf } from './branch-commands.ts';
import type { BranchCommand } from './branch-commands.ts';
import { onPath } from './branch-path.ts';
import type { Database, Fragment } from '../database/database.ts';
import { outlineColumns, toEntry } from '../log/entry-rows.ts';
import type { EntryColumns } from '../log/entry-rows.ts';
import type { NewBranchSummary } from './change-branch.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';

/** Entries that one query reads: results of tools can be long. */
const ENTRIES_PER_PAGE = 50;

/**
 * What is left behind: everything from the common ancestor to the end of the branch; summaries made on it stand among the entries,
 * except those of the path that goes on, which has what they tell. It may be far longer than what enters a summary.
 */
export interface LeftBranch {
  readonly conversationId: string;
  readonly command: BranchCommand;
}

/** What a summary of a branch may quote: answers tell what results said. */
const QUOTED_KINDS: readonly EntryKind[] = ['user', 'assistant', 'compaction', 'branch_summary'];
const ALL_KINDS: readonly EntryKind[] = [...QUOTED_KINDS, 'tool_result', 'note'];
const KINDS_WITH_FILES: readonly EntryKind[] = ['assistant', 'compaction', 'branch_summary'];

interface LeftRow extends EntryColumns {
  readonly summary: string | null;
  /** Of a summary that was made on the branch. */
  readonly nested: FileLists | null;
}

/**
 * Pages of what is left behind, newest first, images and files without their bytes: no summary quotes those.
 * @param kinds Default: all
 */
export async function* readLeftBranch(
  sql: Database,
  left: LeftBranch,
  kinds: readonly EntryKind[] = ALL_KINDS,
): AsyncGenerator<readonly Entry[], void, undefined> {
  // By its beginning: Postgres cannot read a member of what holds NUL.
  const content = sql`(
    select coalesce(json_agg(case
      when ${partIs(sql, 'image|file')} then regexp_replace(part::text, '"data"\\s*:\\s*"[^"]*"', '"data":""')::json
      else part end), '[]')
    from json_array_elements(e.content) as parts (part))`;
  for await (const rows of readRows(sql, left, { kinds, content })) yield rows.flatMap(entriesOf);
}

function entriesOf(row: LeftRow): Entry[] {
  const entry = toEntry(row);
  if (entry.kind !== 'compaction') return [entry];
  if (row.summary === null) return [];
  const content = [{ type: 'text', text: row.summary } as const];
  return [{ ...entry, kind: 'branch_summary', content, measurements: measureContent(content) }];
}

/** What of it enters the request for a summary, oldest first. Read from its end back to where the budget is full, and no further. */
export async function chooseLeftEntries(
  sql: Database,
  left: LeftBranch,
  room: { readonly budget: number; readonly calibration: Calibration },
): Promise<readonly Entry[]> {
  let choice = NOTHING_CHOSEN;
  for await (const page of readLeftBranch(sql, left, QUOTED_KINDS)) {
    choice = chooseOfBranch(choice, page, room);
    if (choice.isFull) break;
  }
  return choice.entries;
}

/** Measurements of all that a summary of it may quote. */
export async function measureLeftBranch(sql: Database, left: LeftBranch): Promise<Measurements> {
  const [row] = await sql<{ size: string }[]>`
    select coalesce(sum(e.measurements), no_measurements()) as size from entries e where ${isLeft(sql, left, QUOTED_KINDS)}`;
  return row === undefined ? NO_MEASUREMENTS : parseMeasurements(row.size);
}

/** The files that it dealt with, all of it: of the entries nothing but the calls is read. */
export async function readLeftFiles(sql: Database, left: LeftBranch): Promise<FileLists> {
  const content = sql`(
    select coalesce(json_agg(part), '[]') from json_array_elements(e.content) as parts (part)
    where ${partIs(sql, 'tool_call')})`;
  let files: FileLists = { read: [], modified: [] };
  for await (const rows of readRows(sql, left, { kinds: KINDS_WITH_FILES, content })) {
    for (const { content: parts, nested } of rows) {
      const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
      const earlier = nested === null ? files : union(files, nested);
      files = extendFileLists({ earlier, calls, tools: FILE_TOOLS });
    }
  }
  return files;
}

function union(one: FileLists, other: FileLists): FileLists {
  const modified = [...new Set([...one.modified, ...other.modified])];
  const read = [...new Set([...one.read, ...other.read])].filter((file) => !modified.includes(file));
  return { read, modified };
}

function partIs(sql: Database, types: string): Fragment {
  return sql`left(part::text, 40) ~ ${String.raw`^\s*\{\s*"type"\s*:\s*"(${types})"`}`;
}

/** Condition on `entries e`. */
function isLeft(
  sql: Database,
  { conversationId, command: { from, to, ancestorSequence } }: LeftBranch,
  kinds: readonly EntryKind[],
): Fragment {
  return sql`
    ${onPath(sql, pointOf(conversationId, from))} and e.sequence > ${ancestorSequence} and e.kind = any(${[...kinds]})
    and not exists (
      select from branch_summaries t
      join entries l on l.conversation_id = t.conversation_id and l.sequence = t.through_sequence
      where t.entry_id = e.id and ${onPath(sql, pointOf(conversationId, to), sql`l`)})`;
}

async function* readRows(
  sql: Database,
  left: LeftBranch,
  { kinds, content }: { readonly kinds: readonly EntryKind[]; readonly content: Fragment },
): AsyncGenerator<readonly LeftRow[], void, undefined> {
  let through = left.command.from.headSequence;
  for (;;) {
    const rows: LeftRow[] = await sql<LeftRow[]>`
      select ${outlineColumns(sql)}, ${content} as content, e.original_id, o.bytes as original_bytes,
        o.missing_bytes as original_missing_bytes, c.summary, coalesce(c.files, s.files) as nested
      from entries e
      left join contents o on o.id = e.original_id
      left join compactions c on c.id = e.compaction_id and c.status = 'committed'
      left join branch_summaries s on s.entry_id = e.id
      where ${isLeft(sql, left, kinds)} and e.sequence <= ${through}
      order by e.sequence desc limit ${ENTRIES_PER_PAGE}`;
    if (rows.length > 0) yield rows;
    if (rows.length < ENTRIES_PER_PAGE) return;
    through = (rows.at(-1)?.sequence ?? 0) - 1;
  }
}

export type EarlierBranchSummary =
  /** Nothing was said there that the path that goes on has not been told: no summary is needed. */
  | { readonly kind: 'told' }
  /** It was summarized for another branch, and nothing was said since. */
  | { readonly kind: 'written'; readonly summary: NewBranchSummary }
  | { readonly kind: 'none' };

/**
 * Looks for a summary of all that was said from the common ancestor to the end of the branch that is left. What stands there
 * besides (summaries of other branches, notes, markers) says nothing new: a summary of it would be one of summaries.
 */
export async function readEarlierBranchSummary(
  sql: Database,
  conversationId: string,
  { from, to, ancestorSequence }: BranchCommand,
): Promise<EarlierBranchSummary> {
  const [said] = await sql<{ through: number | null }[]>`
    select max(e.sequence) as through from entries e
    where ${onPath(sql, pointOf(conversationId, from))} and e.sequence > ${ancestorSequence}
      and e.kind in ('user', 'assistant', 'tool_result')`;
  const through = said?.through ?? null;
  if (through === null) return { kind: 'told' };
  const [row] = await sql<
    (Omit<NewBranchSummary, 'measurements'> & { readonly told: boolean; readonly measurements: string })[]
  >`
    select ${onPath(sql, pointOf(conversationId, to))} as told, e.content, e.measurements, s.files, s.model, s.prompt_version
    from branch_summaries s join entries e on e.id = s.entry_id
    where s.conversation_id = ${conversationId} and s.left_branch = ${from.branch}
      and s.from_sequence = ${ancestorSequence + 1} and s.through_sequence >= ${through}
    order by told desc, e.sequence desc limit 1`;
  if (row === undefined) return { kind: 'none' };
  if (row.told) return { kind: 'told' };
  const { told: _told, measurements, ...written } = row;
  return { kind: 'written', summary: { ...written, measurements: parseMeasurements(measurements) } };
}
