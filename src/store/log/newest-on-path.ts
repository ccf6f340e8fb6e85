import type { Fragment, Queries } from '../database/database.ts';

/** The stretch of a path that lies on one branch: a row `b` of `branches`, or what is joined under that name. */
interface Stretches {
  /** `from` and `where` of the stretches; their `conversation_id`, `ancestor` and `through_sequence` are read. */
  readonly of: Fragment;
  readonly where: Fragment;
  readonly which?: Fragment;
}

/**
 * A query for the newest entry of some stretches, with `columns` of `entries e`. Looked for in each stretch by itself, which is one row of an
 * index (`entries_of_branch`, which has `branch + 0`): in order of sequence the path would be sought among all that other branches have said since.
 */
export function newestOnPath(sql: Queries, columns: Fragment, { of, where, which = sql`true` }: Stretches): Fragment {
  return sql`
    select e.* from ${of} cross join lateral (
      select ${columns} from entries e
      where e.conversation_id = b.conversation_id and e.branch + 0 = b.ancestor and e.sequence <= b.through_sequence and ${which}
      order by e.sequence desc limit 1) as e
    where ${where} order by e.sequence desc limit 1`;
}
