import type { Queries } from '../database.ts';
import { visitWords } from './passage-terms.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** Passages of an entry that takes no place among what is found: who asks sees it. */
export interface ExceptedEntry {
  readonly ids: ReadonlySet<number>;
  readonly terms: ReadonlySet<string>;
}

const NOTHING: ExceptedEntry = { ids: new Set(), terms: new Set() };

/** Nothing where it has several passages: of a long text not all may be in view. */
export async function readExcepted(sql: Queries, entryId: string | undefined): Promise<ExceptedEntry> {
  if (entryId === undefined) return NOTHING;
  const rows = await sql<{ id: string; terms: string }[]>`
    select id, terms::text as terms from passages where source_id = ${entryId} limit 2`;
  const [row] = rows;
  if (row === undefined || rows.length > 1) return NOTHING;
  const terms = new Set<string>();
  visitWords(row.terms, (term) => terms.add(term));
  return { ids: new Set([Number(row.id)]), terms };
}

/** Without the words that only the excepted entry has: they stand nowhere else, and may be misspelt. */
export function withoutExcepted(terms: readonly WeightedTerm[], excepted: ExceptedEntry): readonly WeightedTerm[] {
  if (excepted.ids.size === 0) return terms;
  return terms.flatMap((term) => {
    const passages = term.terms.some((each) => excepted.terms.has(each)) ? term.passages - 1 : term.passages;
    return passages > 0 ? [{ ...term, passages }] : [];
  });
}
