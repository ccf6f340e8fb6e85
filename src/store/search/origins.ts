import type { Queries } from '../database.ts';
import type { RankedCandidate } from './candidate.ts';
import type { SearchedScope } from './scope.ts';

interface OriginRow {
  /** Of a passage's entry or compaction, with the branch that was left; of a conversation, with its user. */
  readonly id: string;
  readonly branch: number | null;
  readonly user: string | null;
}

/**
 * The same candidates; those of a branch that was left know it, and all know the user of their conversation. A summary was not left where
 * all that it was told of stands on the active path: it is in force there, or was. Of a conversation without branches nothing is read, for
 * it has one user, and of an agent no more than which of the few conversations that were found have any.
 */
export async function withOrigins<T extends RankedCandidate>(
  sql: Queries,
  { hasBranches }: Pick<SearchedScope, 'hasBranches'>,
  candidates: readonly T[],
): Promise<readonly T[]> {
  if (!hasBranches || candidates.length === 0) return candidates;
  const conversationOf = new Map(candidates.map(({ sourceId, conversationId }) => [sourceId, conversationId]));
  const conversations = [...new Set(conversationOf.values())];
  const rows = await sql<OriginRow[]>`
    with branched as materialized (
      select distinct f.conversation_id from branches f
      where f.conversation_id = any(${conversations}::uuid[]) and f.branch > 0)
    select w.id, e.branch, null as user
    from unnest(${[...conversationOf.keys()]}::uuid[], ${[...conversationOf.values()]}::uuid[]) as w (id, conversation_id)
    join branched on branched.conversation_id = w.conversation_id
    join conversations c on c.id = w.conversation_id
    left join compactions k on k.id = w.id
    left join entries r on r.conversation_id = k.conversation_id and r.sequence = k.read_through_sequence
    join entries e on e.id = coalesce(k.marker_entry_id, w.id)
    where not exists (
      select from branches b where b.conversation_id = c.id and b.branch = c.branch
        and b.ancestor = coalesce(r.branch, e.branch) and coalesce(r.sequence, e.sequence) <= b.through_sequence)
    union all
    select id, null, user_name from conversations where id = any(${conversations}::uuid[]) and user_name is not null`;
  if (rows.length === 0) return candidates;
  const origins = new Map(rows.map((row) => [row.id, row]));
  return candidates.map((candidate) => {
    const leftBranch = origins.get(candidate.sourceId)?.branch ?? null;
    const user = origins.get(candidate.conversationId)?.user ?? null;
    if (leftBranch === null && user === null) return candidate;
    return { ...candidate, ...(leftBranch !== null && { leftBranch }), ...(user !== null && { user }) };
  });
}
