import type { BranchCommand } from './branch-commands.ts';
import { pointOf } from './branch-commands.ts';
import { onPath } from './branch-path.ts';
import type { NewBranchSummary } from './change-branch.ts';
import type { Database } from '../database/database.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';

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
    (Omit<NewBranchSummary, 'measurements' | 'call'> & { readonly told: boolean; readonly measurements: string })[]
  >`
    select ${onPath(sql, pointOf(conversationId, to))} as told, e.content, e.measurements, s.files, s.entries_read, s.model,
      s.prompt_version
    from branch_summaries s join entries e on e.id = s.entry_id
    where s.conversation_id = ${conversationId} and s.left_branch = ${from.branch}
      and s.from_sequence = ${ancestorSequence + 1} and s.through_sequence >= ${through}
    order by told desc, e.sequence desc limit 1`;
  if (row === undefined) return { kind: 'none' };
  if (row.told) return { kind: 'told' };
  const { told: _told, measurements, ...written } = row;
  return { kind: 'written', summary: { ...written, measurements: parseMeasurements(measurements), call: null } };
}
