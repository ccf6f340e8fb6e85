import type { SaidText } from '../../context/memory/memory-origin.ts';
import type { Queries } from '../database/database.ts';
import { memoryIsOfScopes } from './memories.ts';
import type { MemoryScope } from './memories.ts';

/** Summaries are long. */
const QUOTED_PER_PAGE = 50;

/**
 * Pages of the texts that are shown to these scopes as quoted data: what came from tool output, and summaries. Also those that
 * are over: what was noted of them still stands in conversations. Their entries are of other conversations, and are not named.
 */
export async function* readQuotedMemories(
  sql: Queries,
  scopes: readonly MemoryScope[],
): AsyncGenerator<readonly SaidText[], void, undefined> {
  let after: string | null = null;
  for (;;) {
    const rows: { id: string; text: string }[] = await sql<{ id: string; text: string }[]>`
      select m.id, m.text from memories m
      where ${memoryIsOfScopes(sql, scopes)} and (m.origin = 'tool' or m.kind = 'summary') ${after === null ? sql`` : sql`and m.id > ${after}`}
      order by m.id limit ${QUOTED_PER_PAGE}`;
    if (rows.length > 0) yield rows.map(({ text }) => ({ text, entryId: null }));
    if (rows.length < QUOTED_PER_PAGE) return;
    after = rows.at(-1)?.id ?? null;
  }
}
