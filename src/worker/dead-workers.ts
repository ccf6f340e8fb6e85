import type { FreeSession } from '../store/upkeep/worker-sessions.ts';

/** Milliseconds for which a lock must have been free and its worker's row not renewed. */
const FREE_MILLISECONDS = 500;

/** When a lock was first seen free, with the row as it was then. */
export interface Suspicion extends FreeSession {
  /** By `performance.now()`. */
  readonly since: number;
}

/**
 * Which workers are dead. One that only lost its lock (Postgres restarted, its connection was ended) renews its row meanwhile, and takes the
 * lock again.
 * @param suspicions of the look before. A dead worker is none: when it cannot be taken over, it is suspected anew.
 * @param free workers whose lock is free now
 */
export function judgeSessions(
  suspicions: readonly Suspicion[],
  free: readonly FreeSession[],
  now: number,
): { readonly suspicions: readonly Suspicion[]; readonly dead: readonly FreeSession[] } {
  const judged = free.map(
    ({ id, renewals }) =>
      suspicions.find((before) => before.id === id && before.renewals === renewals) ?? { id, renewals, since: now },
  );
  const isDead = ({ since }: Suspicion): boolean => now - since >= FREE_MILLISECONDS;
  return { suspicions: judged.filter((each) => !isDead(each)), dead: judged.filter(isDead) };
}
