import type { TurnHarness } from './turn-harness.ts';

/** All that a conversation left behind, as one text: every row of every table, and Temporal's history. */
export async function readEverything(harness: TurnHarness, conversationId: string): Promise<string> {
  const { database } = harness;
  const tables = await database<{ name: string }[]>`
    select quote_ident(table_name) as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE'`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await database.unsafe<{ row: string }[]>(`select row_to_json(t)::text as row from ${name} t`);
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  // Large originals are bytes.
  const pieces = await database<{ text: string }[]>`select encode(data, 'escape') as text from content_pieces`;
  return [...texts, ...pieces.map(({ text }) => text), await harness.history(conversationId)].join('\n');
}
