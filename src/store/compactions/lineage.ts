import type { CompactionPlan, Operation, PlanPart } from '../../context/plan/plan.ts';
import { characterCount } from '../../context/log/measurements.ts';
import { onPath } from '../conversations/branch-path.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';

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
      entries: entries.filter(({ sequence }) => isRead(row.plan, part, sequence)),
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

function isRead({ reading }: CompactionPlan, { fromSequence, toSequence }: PlanPart, sequence: number): boolean {
  if (fromSequence === undefined || toSequence === undefined) return false;
  if (sequence < fromSequence || sequence > toSequence) return false;
  return reading === undefined || sequence > reading.after || reading.earlier.includes(sequence);
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
