import type { Queries } from '../database.ts';
import type { RankedCandidate } from './candidate.ts';
import type { SearchedScope } from './scope.ts';

/**
 * The same candidates; those of a branch that was left know it. A summary was not left where all that it was told of stands on the active
 * path: it is in force there, or was. Of a conversation without branches nothing is read, and of an
 * agent no more than which of the few conversations that were found have any.
 */
export async function markLeftBranches<T extends RankedCandidate>(
  sql: Queries,
  { hasBranches }: Pick<SearchedScope, 'hasBranches'>,
  candidates: readonly T[],
): Promise<readonly T[]> {
  if (!hasBranches || candidates.length === 0) return candidates;
  const conversationOf = new Map(candidates.map(({ sourceId, conversationId }) => [sourceId, conversationId]));
  const rows = await sql<{ id: string; branch: number }[]>`
    with branched as materialized (
      select distinct f.conversation_id from branches f
      where f.conversation_id = any(${[...new Set(conversationOf.values())]}::uuid[]) and f.branch > 0)
    select w.id, e.branch
    from unnest(${[...conversationOf.keys()]}::uuid[], ${[...conversationOf.values()]}::uuid[]) as w (id, conversation_id)
    join branched on branched.conversation_id = w.conversation_id
    join conversations c on c.id = w.conversation_id
    left join compactions k on k.id = w.id
    left join entries r on r.conversation_id = k.conversation_id and r.sequence = k.read_through_sequence
    join entries e on e.id = coalesce(k.marker_entry_id, w.id)
    where not exists (
      select from branches b where b.conversation_id = c.id and b.branch = c.branch
        and b.ancestor = coalesce(r.branch, e.branch) and coalesce(r.sequence, e.sequence) <= b.through_sequence)`;
  if (rows.length === 0) return candidates;
  const left = new Map(rows.map(({ id, branch }) => [id, branch]));
  return candidates.map((candidate) => {
    const leftBranch = left.get(candidate.sourceId);
    return leftBranch === undefined ? candidate : { ...candidate, leftBranch };
  });
}
