import { sourceExists } from '../store/memory/memories.ts';
import { inScope } from './invariant.ts';
import type { Breach, Invariant } from './invariant.ts';

/** What memories say of where they come from. Those that were written by hand, and those of which nobody knows it, say nothing. */
export const MEMORY_INVARIANTS: readonly Invariant[] = [
  {
    name: 'memory_has_its_source',
    holds: 'the source that a memory names is an entry or a compaction of the conversation that it was learned in',
    find: (sql, scope) => sql<Breach[]>`
      select m.conversation_id, format('memory %s', m.id) as subject,
        format('its conversation has neither an entry nor a compaction %s', m.source_id) as found
      from memories m
      where ${inScope(sql, sql`m.conversation_id`, scope)} and m.source_id is not null and not ${sourceExists(sql)}
      limit ${scope.limit}`,
  },
];
