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
  readonly name: string;
  readonly holds: string;
  find(sql: Database, scope: VerifyScope): Promise<readonly Breach[]>;
}

export interface CheckedInvariant extends Pick<Invariant, 'name' | 'holds'> {
  readonly breaches: readonly Breach[];
}

export interface VerifyScope {
  readonly conversationId: string | null;
  readonly limit: number;
}

export function inScope(
  sql: Database,
  column: Fragment,
  { conversationId }: Pick<VerifyScope, 'conversationId'>,
): Fragment {
  return conversationId === null ? sql`true` : sql`${column} = ${conversationId}`;
}
