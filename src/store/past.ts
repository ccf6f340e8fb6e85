import type { Fragment, Queries } from './database.ts';

/**
 * Whether a time lies at least so long ago. A time in the future counts as past: the clock stepped back since, and nothing should wait
 * until it is there again.
 * @param seconds up to now
 */
export function isPast(sql: Queries, time: Fragment, seconds: number): Fragment {
  return sql`(${time} not between holdfast_now() - make_interval(secs => ${seconds}) and holdfast_now())`;
}
