import type { Fragment, Queries } from './database.ts';

/**
 * Seconds by which a stored time may lie ahead: a clock is corrected by less. What lies further ahead is of a clock that stepped
 * back since, and would hold until that time comes.
 */
const AHEAD_SECONDS = 60;

/** The latest time that a clock which is right may have stored. */
export function ahead(sql: Queries): Fragment {
  return sql`holdfast_now() + make_interval(secs => ${AHEAD_SECONDS})`;
}

/**
 * Whether a time lies at least so long ago, or nobody knows how long since the clock stepped back.
 * @param seconds up to now
 */
export function isPast(sql: Queries, time: Fragment, seconds: number): Fragment {
  return sql`(${time} <= holdfast_now() - make_interval(secs => ${seconds}) or ${time} > ${ahead(sql)})`;
}
