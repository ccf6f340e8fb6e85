import type { Queries } from '../database/database.ts';
import { termsOf } from './memory-terms.ts';
import { memoryIsOfScopes } from './memories.ts';
import type { MemoryKind, MemoryScope } from './memories.ts';

/** Memories that are taken apart at once: a tenth of a second of a transaction. */
const PER_PAGE = 500;

interface UntakenRow {
  readonly id: string;
  readonly tenant: string;
  readonly scope: MemoryScope['scope'];
  readonly scope_name: string;
  readonly kind: MemoryKind;
  readonly text: string;
}

export interface TakenApart {
  /** Memories that are found from now on. */
  readonly written: number;
  /** No more is left, or another is at it. */
  readonly isAll: boolean;
}

/**
 * Takes some memories apart that were written by hand or imported, so that they are found. Derived from
 * the text: whoever does it writes the same. A turn that begins does this once for its scopes, upkeep for all.
 * @param scopes `null`: all
 */
export async function addMissingTerms(sql: Queries, scopes: readonly MemoryScope[] | null): Promise<TakenApart> {
  const rows = await sql<UntakenRow[]>`
    select m.id, m.tenant, m.scope, m.scope_name, m.kind, m.text from memories m
    where m.terms is null and m.superseded_by is null ${scopes === null ? sql`` : sql`and ${memoryIsOfScopes(sql, scopes)}`}
    limit ${PER_PAGE}`;
  if (rows.length === 0) return { written: 0, isAll: true };
  const ids = rows.map(({ id }) => id);
  const terms = rows.map((row) => termsOf({ ...row, scopeName: row.scope_name }).join(' '));
  const { count } = await sql`
    with free as (
      select m.id from memories m where m.id = any(${ids}::uuid[]) and m.terms is null order by m.id for update skip locked)
    update memories m set terms = string_to_array(t.terms, ' ')
    from unnest(${ids}::uuid[], ${terms}::text[]) as t (id, terms)
    where m.id = t.id and m.id in (select f.id from free f)`;
  // None: another is at it. What it has not written yet is found the next time.
  return { written: count, isAll: count === 0 || rows.length < PER_PAGE };
}
