/** Committed summaries, as users and commands read them. */
import type { CompactionPlan, Operation, PlanPart, CompactionForm, CompactionReason } from '../../context/plan/plan.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import { characterCount } from '../../context/log/measurements.ts';
import { onPath } from '../conversations/branch-path.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';
import type { NewSummary } from './commit-compaction.ts';

export async function readSummaryText(
  sql: Database,
  compactionId: string,
): Promise<{ readonly text: string; readonly finishedAt: string } | null> {
  const [row] = await sql<{ text: string; finishedAt: string }[]>`
    select summary as text, iso_time(finished_at) as "finishedAt" from compactions
    where id = ${compactionId} and status = 'committed' and summary is not null`;
  return row ?? null;
}

export interface SummaryRow {
  readonly compactionId: string;
  /** Counts the conversation's committed compactions, from 1. */
  readonly number: number;
  readonly form: CompactionForm;
  readonly reason: CompactionReason;
  readonly preset: string;
  readonly text: string | null;
  /** What was asked of the summary. */
  readonly asked: Pick<CompactionPolicy['summary'], 'headings' | 'sections'>;
  readonly files: NewSummary['files'];
  readonly model: string | null;
  readonly promptVersion: string | null;
  /** Last entry that the summary covers, by sequence; `null` for a pass without summary. */
  readonly coveredThroughSequence: number | null;
  readonly firstKeptSequence: number | null;
  readonly operations: number;
  readonly parts: readonly PlanPart[];
  readonly branch: number;
  /** Number of the compaction whose summary it updates; `null` when it updates none. */
  readonly updates: number | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Entries of its branch up to the last one that it covers. */
  readonly entriesCovered: number;
  /** Forms that were planned until this one was committed. */
  readonly tries: number;
  /** Calls that were paid, over all tries. */
  readonly modelCalls: number;
  /** Dollars of these calls; `null` when a price is unknown. */
  readonly cost: number | null;
  /** Tokens of these calls, and of them those read from the provider's cache. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly durationMilliseconds: number;
  /** Of the commit. */
  readonly createdAt: string;
}

/** Committed compactions of a conversation, newest first; with `query` those whose summary has that text (case ignored). */
export async function listSummaries(
  sql: Database,
  request: {
    readonly conversationId: string;
    readonly query?: string;
    /** Default: 100. */
    readonly limit?: number;
    readonly beforeNumber?: number;
  },
): Promise<SummaryRow[]> {
  const { conversationId, query, beforeNumber } = request;
  if (!isId(conversationId)) return [];
  return sql<SummaryRow[]>`
    select c.id as "compactionId", c.number, c.form, c.reason, c.preset, c.summary as text,
      coalesce(c.files, '{"read": [], "modified": []}') as files, c.model, c.prompt_version,
      c.plan -> 'coveredThroughSequence' as "coveredThroughSequence", c.plan -> 'firstKeptSequence' as "firstKeptSequence",
      c.plan -> 'parts' as parts, (select count(*) from compaction_operations o where o.compaction_id = c.id)::int as operations,
      (select json_build_object('headings', s.asked -> 'headings', 'sections', s.asked -> 'sections')
        from turns t cross join lateral (select model_in_force(t) -> 'policy' -> 'summary' as asked) s
        where t.id = c.turn_id) as asked,
      u.branch, (select p.number from compactions p where p.id = c.previous_id) as updates,
      c.tokens_before, c.tokens_after, u.entries_covered, u.tries,
      u.model_calls, u.cost::float8 as cost, r.input_tokens, r.cache_read_tokens,
      round(extract(epoch from c.finished_at - c.created_at) * 1000)::float8 as "durationMilliseconds",
      iso_time(c.finished_at) as "createdAt"
    from compactions c join summaries u on u.compaction_id = c.id
    cross join lateral (
      select coalesce(sum(m.input_tokens), 0)::float8 as input_tokens,
        coalesce(sum(m.cache_read_tokens), 0)::float8 as cache_read_tokens
      from compaction_parts p
      left join model_attempts m
        on m.conversation_id = p.conversation_id and m.purpose = 'summary_part' and m.compaction_id = p.compaction_id and m.part = p.number
      where p.compaction_id = c.id and p.kind <> 'flush') r
    where c.conversation_id = ${conversationId} and c.status = 'committed'
      ${beforeNumber === undefined ? sql`` : sql`and c.number < ${beforeNumber}`}
      ${query === undefined ? sql`` : sql`and strpos(lower(c.summary::text), lower(${inJson(query)})) > 0`}
    order by c.number desc limit ${request.limit ?? 100}`;
}

function inJson(query: string): string {
  return JSON.stringify(query).slice(1, -1);
}

export interface CoveredEntry {
  readonly sequence: number;
  readonly entryId: string;
}

/** An entry that a compaction shows shorter from then on. */
export interface ChangedEntry extends CoveredEntry {
  readonly toolName: string | null;
  readonly method: Operation['kind'];
  readonly charactersBefore: number;
  readonly charactersAfter: number;
}

/** From a summary to the originals that it stands for: what its parts read, and the summary that they read beside it. */
export interface CompactionLineage {
  readonly compactionId: string;
  readonly number: number;
  /** The summary that this one took over; what that one covers, this one covers too. `null` for the first. */
  readonly previousCompactionId: string | null;
  readonly parts: readonly {
    readonly number: number;
    readonly kind: PlanPart['kind'];
    readonly promptVersion: string | null;
    /** Originals that the part read, oldest first; none for a merge, which reads the texts of the parts. */
    readonly entries: readonly CoveredEntry[];
  }[];
  readonly changes: readonly ChangedEntry[];
}

interface CompactionColumns {
  readonly id: string;
  readonly number: number;
  readonly previousId: string | null;
  readonly plan: CompactionPlan;
  readonly branch: number;
  readonly headEntryId: string;
  readonly headSequence: number;
  readonly versions: readonly (string | null)[];
}

export async function readLineage(sql: Database, conversationId: string): Promise<CompactionLineage[]> {
  if (!isId(conversationId)) return [];
  const rows = await sql<CompactionColumns[]>`
    select c.id, c.number, c.previous_id, c.plan, e.branch, e.id as head_entry_id, e.sequence as head_sequence,
      array(select p.prompt_version from compaction_parts p where p.compaction_id = c.id order by p.number) as versions
    from compactions c join entries e on e.id = c.head_entry_id
    where c.conversation_id = ${conversationId} and c.status = 'committed' order by c.number`;
  const changes = await readChanges(sql, conversationId);
  const found: CompactionLineage[] = [];
  for (const row of rows) {
    const entries = await readCovered(sql, conversationId, row);
    const parts = row.plan.parts.map((part, index) => ({
      number: part.number,
      kind: part.kind,
      promptVersion: row.versions[index] ?? null,
      entries: entries.filter(
        ({ sequence }) => sequence >= (part.fromSequence ?? Infinity) && sequence <= (part.toSequence ?? 0),
      ),
    }));
    found.push({
      compactionId: row.id,
      number: row.number,
      previousCompactionId: row.plan.parts.length === 0 ? null : row.previousId,
      parts,
      changes: changes.get(row.id) ?? [],
    });
  }
  return found;
}

/** What was said, on the branch that the compaction was planned for, in the ranges of its parts. */
async function readCovered(
  sql: Database,
  conversationId: string,
  { plan, branch, headEntryId, headSequence }: CompactionColumns,
): Promise<CoveredEntry[]> {
  const from = Math.min(...plan.parts.map((part) => part.fromSequence ?? Infinity));
  const to = Math.max(...plan.parts.map((part) => part.toSequence ?? -Infinity));
  if (!Number.isFinite(from) || !Number.isFinite(to)) return [];
  const point = { conversationId, branch, headEntryId, headSequence, compactions: 0 };
  return sql<CoveredEntry[]>`
    select e.sequence, e.id as "entryId" from entries e
    where ${onPath(sql, point)} and e.sequence between ${from} and ${to} and e.kind not in ('note', 'compaction')
    order by e.sequence`;
}

async function readChanges(sql: Database, conversationId: string): Promise<ReadonlyMap<string, ChangedEntry[]>> {
  const rows = await sql<
    (Omit<ChangedEntry, 'charactersBefore' | 'charactersAfter'> & {
      readonly compactionId: string;
      readonly before: string;
      readonly after: string;
    })[]
  >`
    select o.compaction_id, e.sequence, e.id as entry_id, e.tool_name, o.kind as method, e.measurements as before,
      o.measurements as after
    from compaction_operations o
    join compactions c on c.id = o.compaction_id and c.status = 'committed'
    join entries e on e.conversation_id = o.conversation_id and e.sequence = o.entry_sequence
    where o.conversation_id = ${conversationId} order by e.sequence`;
  const changes = new Map<string, ChangedEntry[]>();
  for (const { compactionId, before, after, ...entry } of rows) {
    const charactersBefore = characterCount(parseMeasurements(before));
    const charactersAfter = characterCount(parseMeasurements(after));
    const known = changes.get(compactionId) ?? [];
    changes.set(compactionId, [...known, { ...entry, charactersBefore, charactersAfter }]);
  }
  return changes;
}
