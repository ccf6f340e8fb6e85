import type { Database } from '../../src/store/database/database.ts';

/** What a conversation is made of, owners before what they own. The index of search is none of it: no step looks there. */
export const CLONED_TABLES = [
  'conversations',
  'branches',
  'messages',
  'turns',
  'entries',
  'packed_outlines',
  'model_attempts',
  'tool_calls',
  'decisions',
  'compactions',
  'compaction_parts',
  'compaction_operations',
  'memories',
  'events',
] as const;

/** Text columns that must be unique, or name something that must be; `id` is that of messages. */
const UNIQUE_TEXTS: ReadonlySet<string> = new Set([
  'id',
  'workflow_id',
  'begun_by_run_id',
  'run_id',
  'message_id',
  'follows_id',
]);

/** In a key without nulls: there is no such row. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Copies that one statement writes. */
const BATCH = 50;

/**
 * Writes so many copies of a conversation, each with ids of its own, as the server would have left them: triggers and foreign
 * keys are off in these transactions. The server copies from itself, which is faster than COPY from here.
 * @param onProgress called with the copies made so far
 */
export async function cloneConversations(
  sql: Database,
  request: { readonly conversationId: string; readonly copies: number },
  onProgress: (copies: number) => void = () => undefined,
): Promise<void> {
  const columns = new Map<string, readonly Column[]>();
  for (const table of CLONED_TABLES) columns.set(table, await columnsOf(sql, table));
  for (let first = 1; first <= request.copies; first += BATCH) {
    const last = Math.min(first + BATCH - 1, request.copies);
    await sql.begin(async (open) => {
      await open`set local role none`;
      await open`set local session_replication_role = replica`;
      for (const [table, found] of columns) {
        const names = found.map(({ name }) => `"${name}"`).join(', ');
        const values = found.map(copied).join(', ');
        const owner = table === 'conversations' ? 'id' : 'conversation_id';
        await open.unsafe(
          `insert into ${table} (${names}) overriding system value
           select ${values} from ${table} s cross join generate_series(${first}, ${last}) as n where s.${owner} = $1`,
          [request.conversationId],
        );
      }
    });
    onProgress(last);
  }
  // As autovacuum would in time; the map of visible rows too, which scans of an index alone need.
  await sql`vacuum (analyze) ${sql(CLONED_TABLES)}`;
  // Else what was just written is still being written while something is measured.
  await sql`checkpoint`;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

async function columnsOf(sql: Database, table: string): Promise<readonly Column[]> {
  return sql<Column[]>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`;
}

/** The same id becomes the same other id in every table, so that the rows of a copy find one another. */
function copied({ name, type }: Column): string {
  if (type === 'uuid') return `coalesce(md5(nullif(s."${name}", '${NO_ID}')::text || '-' || n)::uuid, s."${name}")`;
  return UNIQUE_TEXTS.has(name) ? `s."${name}" || '-' || n` : `s."${name}"`;
}
