import type { Fragment, Queries } from './database.ts';

/**
 * Whether a time lies at least so long ago. One that is over a minute in the future counts as past: the clock stepped back since, and
 * nothing should wait until it is there again. Less than that may be a statement that waited for the lock of another.
 * @param seconds up to now
 */
export function isPast(sql: Queries, time: Fragment, seconds: number): Fragment {
  return sql`(${time} not between holdfast_now() - make_interval(secs => ${seconds}) and holdfast_now() + interval '1 minute')`;
}
