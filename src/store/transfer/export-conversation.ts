import { createHash } from 'node:crypto';
import postgres from 'postgres';
import type { Database, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { requireCurrentSchema } from '../database/migrate.ts';
import { transaction } from '../database/transaction.ts';
import { CONVERSATION_FORMAT, CONVERSATION_FORMAT_VERSION } from './conversation-file.ts';
import { columnsOf, FILE_TABLES, isFileTable } from './format.ts';
import type { FileTable } from './format.ts';

/** Rows fetched at a time; one may hold a piece of 256 KB. */
const FETCHED_AT_ONCE = 100;

/**
 * Writes a conversation as lines of JSON: a header, what was said with originals, summaries and all branches, and the SHA-256
 * of all lines before, each with a line feed. One snapshot, however long it takes.
 *
 * @param write awaited line by line; a line has no line break of its own
 * @throws StoreError `conversation_not_found`, `conversation_busy` while a turn is open or a message waits, which would be
 *   answered here and be missing wherever the file is imported
 */
export async function exportConversation(
  sql: Database,
  conversationId: string,
  write: (line: string) => Promise<void> | void,
): Promise<void> {
  await transaction(sql, async (open) => {
    await open`set transaction isolation level repeatable read, read only`;
    await open`set local timezone to 'UTC'`;
    // Whoever reads may take his time: a pager, a slow disk.
    await open`set local idle_in_transaction_session_timeout = 0`;
    await requireCurrentSchema(open);
    await requireIdle(open, conversationId);
    const checksum = createHash('sha256');
    const writeLine = async (line: string): Promise<void> => {
      checksum.update(`${line}\n`);
      await write(line);
    };
    await writeLine(
      JSON.stringify({ format: CONVERSATION_FORMAT, version: CONVERSATION_FORMAT_VERSION, conversationId }),
    );
    for (const table of Object.keys(FILE_TABLES).filter(isFileTable)) {
      const cursor = open.unsafe<{ line: string }[]>(exportQuery(table), [conversationId]).cursor(FETCHED_AT_ONCE);
      for await (const fetched of cursor) {
        // A line break in JSON is white space: inside a string it is an escape.
        for (const { line } of fetched) await writeLine(line.replaceAll('\n', ' '));
      }
    }
    // Without a last line nobody could tell a file that was cut off between two lines from a whole one.
    await write(JSON.stringify({ sha256: checksum.digest('hex') }));
  });
}

/**
 * Columns that are not of the table, or not as they stand there. Memories and the agent's rules are of the agent and the user that a
 * turn works with: of a note of rules the pins are left, behind an empty text in place of the agent's own.
 */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  data: String.raw`translate(encode(r.data, 'base64'), E'\n', '')`,
  turn: 't.number',
  outcome: 'c.outcome',
  entryKind: 'r.kind',
  key: 'r.note_key',
  'entries.model': 'm.model',
  content: String.raw`case r.slot when 'memories' then '[]' when 'rules' then (
    select case when count(*) < 2 then '[]'
      else json_agg(case when p.place = 1 then '{"type":"text","text":""}' else p.part end order by p.place) end
    from json_array_elements(r.content) with ordinality as p (part, place)) else r.content end`,
};

/** Of which JSON has no type. */
const AS_TEXT = /At$|easurements$|^view/u;

/** The lines of a table, with the conversation as $1. */
function exportQuery(table: FileTable): string {
  const columns = columnsOf(table).map((column) => {
    const expression = EXPRESSIONS[`${table}.${column}`] ?? EXPRESSIONS[column] ?? `r.${postgres.fromCamel(column)}`;
    return `${expression}${AS_TEXT.test(column) ? '::text' : ''} as "${column}"`;
  });
  const rows = `select ${columns.join(', ')} from ${FILE_TABLES[table].from}`;
  return `select json_build_object('table', '${table}', 'row', row_to_json(r))::text as line from (${rows}) as r`;
}

async function requireIdle(sql: Transaction, conversationId: string): Promise<void> {
  const [row] = isId(conversationId)
    ? await sql<{ isBusy: boolean }[]>`
        select c.active_turn_id is not null
          or exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null) as "isBusy"
        from conversations c where c.id = ${conversationId}`
    : [];
  if (row === undefined) throw new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
  if (!row.isBusy) return;
  throw new StoreError(
    'conversation_busy',
    `conversation ${conversationId} is at work, or a message waits: export it once it is idle`,
  );
}
