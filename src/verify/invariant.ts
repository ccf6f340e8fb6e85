import type { Database, Fragment } from '../store/database/database.ts';

/** A place where what must always hold does not. Names ids and numbers, never text of a message. */
export interface Breach {
  readonly conversationId: string;
  /** What it is about: an entry, a turn, a call, a compaction. */
  readonly subject: string;
  /** What was found, against what must hold. */
  readonly found: string;
}

/** One thing that must always hold, whatever was killed when. */
export interface Invariant {
  /** Stable name, as `log_without_gaps`. */
  readonly name: string;
  /** What holds, in one sentence. */
  readonly holds: string;
  /** Breaches, at most `limit` of them. */
  find(sql: Database, scope: VerifyScope): Promise<readonly Breach[]>;
}

/** An invariant that was checked, with what was found against it. */
export interface CheckedInvariant extends Pick<Invariant, 'name' | 'holds'> {
  readonly breaches: readonly Breach[];
}

export interface VerifyScope {
  /** `null`: all conversations. */
  readonly conversationId: string | null;
  /** Most breaches that one invariant lists. */
  readonly limit: number;
}

/** The condition that keeps a query to the scope's conversation. */
export function inScope(
  sql: Database,
  column: Fragment,
  { conversationId }: Pick<VerifyScope, 'conversationId'>,
): Fragment {
  return conversationId === null ? sql`true` : sql`${column} = ${conversationId}`;
}
