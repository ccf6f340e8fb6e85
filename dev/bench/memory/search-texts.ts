import type { Database } from '../../../src/store/database/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { loadEntries } from './load-entries.ts';

export interface SaidTexts {
  readonly texts: readonly string[];
  /** When each was said. Default: ten seconds apart, the newest now. */
  readonly times?: readonly Date[];
  /** Of the tool call whose result each text is. Default: the user said them. */
  readonly paths?: readonly string[];
}

/** Puts texts into a conversation of their own and asks it. @returns for each query the indexes of the texts that are found, best first */
export async function searchTexts(
  sql: Database,
  { texts, times, paths }: SaidTexts,
  queries: readonly string[],
  limit = 10,
): Promise<number[][]> {
  const kind = paths === undefined ? 'user' : 'tool_result';
  const loaded = await loadEntries(
    sql,
    texts.length,
    (at) => texts[at] ?? '',
    times,
    () => kind,
  );
  const { conversationId, entryIds } = loaded;
  if (paths !== undefined) await setPaths(sql, entryIds, paths);
  await indexConversation(sql, conversationId);
  const indexes = new Map(entryIds.map((id, index) => [id, index]));
  const found: number[][] = [];
  for (const query of queries) {
    const passages = await searchMemory(sql, { conversationId, query, limit });
    found.push(passages.map(({ entryId }) => indexes.get(entryId) ?? -1));
  }
  return found;
}

async function setPaths(sql: Database, entryIds: readonly string[], paths: readonly string[]): Promise<void> {
  const calls = paths.map((path) => JSON.stringify(JSON.stringify({ path })));
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      update tool_calls c set arguments = p.arguments::json
      from unnest(${[...entryIds]}::uuid[], ${calls}::text[]) as p (id, arguments) where c.result_entry_id = p.id`;
  });
}
