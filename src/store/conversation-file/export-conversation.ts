import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../database.ts';
import { StoreError } from '../errors.ts';
import { isId } from '../ids.ts';
import { transaction } from '../transaction.ts';
import {
  CONVERSATION_FORMAT,
  CONVERSATION_FORMAT_VERSION,
  FENCED_TABLES,
  TABLES_AFTER,
  TABLES_BEFORE,
  exportedExpression,
  readColumns,
  readSchemaNumber,
} from './tables.ts';
import { requireOwnSchema } from '../migrate.ts';
import type { ConversationFileEnd, ConversationFileHeader, ExportedTable } from './tables.ts';

/** Rows fetched at a time; one may hold a piece of 256 KB. */
const FETCHED_AT_ONCE = 100;

/**
 * Writes a whole conversation as lines of JSON: a header, every row of it, originals, summaries and all branches
 * included, and their number and checksum. One snapshot, however long it takes.
 *
 * @param write awaited line by line; a line has no line break of its own
 * @throws StoreError `conversation_not_found`, `conversation_busy` while a turn is open or a message waits, which would be
 *   answered once here and once wherever the file is imported
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
    await requireOwnSchema(open);
    await requireIdle(open, conversationId);
    const header: ConversationFileHeader = {
      format: CONVERSATION_FORMAT,
      version: CONVERSATION_FORMAT_VERSION,
      schema: await readSchemaNumber(open),
      conversationId,
    };
    const checksum = createHash('sha256');
    const writeLine = async (line: string): Promise<void> => {
      checksum.update(`${line}\n`);
      await write(line);
    };
    await writeLine(JSON.stringify(header));
    let rows = 0;
    const writeRow = async (line: string): Promise<void> => {
      rows += 1;
      await writeLine(line);
    };
    for (const table of TABLES_BEFORE) await writeAll(await openRows(open, table, conversationId, false), writeRow);
    await writeByEpoch(open, conversationId, writeRow);
    for (const table of TABLES_AFTER) await writeAll(await openRows(open, table, conversationId, false), writeRow);
    const end: ConversationFileEnd = { rows, sha256: checksum.digest('hex') };
    await write(JSON.stringify(end));
  });
}

async function requireIdle(sql: Transaction, conversationId: string): Promise<void> {
  const [row] = isId(conversationId)
    ? await sql<{ active: string | null; waiting: boolean }[]>`
        select c.active_turn_id as active,
          exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null) as waiting
        from conversations c where c.id = ${conversationId}`
    : [];
  if (row === undefined) {
    throw new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
  }
  if (row.active !== null) {
    throw new StoreError(
      'conversation_busy',
      `conversation ${conversationId} has an open turn: export it when it ended`,
    );
  }
  if (row.waiting) {
    throw new StoreError(
      'conversation_busy',
      `in conversation ${conversationId} a message waits for a turn: export it when it was answered`,
    );
  }
}

interface Line {
  readonly epoch: number;
  readonly text: string;
}

/** Rows of a table, some at a time. */
interface Rows {
  /** The next row, without taking it. */
  peek(): Promise<Line | null>;
  take(): void;
}

async function openRows(
  sql: Transaction,
  table: ExportedTable,
  conversationId: string,
  fenced: boolean,
): Promise<Rows> {
  const columns = await readColumns(sql, table);
  const cursor = `export_${table.name}`;
  const epoch = fenced ? 'x.epoch' : '0';
  const values = columns.map((column) => `${exportedExpression(column)} as "${column.name}"`).join(', ');
  const order = table.order.replaceAll(/\w+/g, 'x.$&');
  // A query with a parameter cannot be declared as a cursor; the id was checked to be one.
  const where = (table.where ?? 'conversation_id = $1').replaceAll('$1', `'${conversationId}'::uuid`);
  await sql.unsafe(
    `declare ${cursor} cursor for
     select ${epoch} as epoch, json_build_object('table', '${table.name}',
       'row', (select row_to_json(r) from (select ${values}) as r))::text as text
     from ${table.name} x
     where ${where} order by ${fenced ? 'x.epoch, ' : ''}${order}`,
  );
  let fetched: readonly Line[] = [];
  let next = 0;
  return {
    async peek() {
      if (next < fetched.length) return fetched[next] ?? null;
      if (next > 0 && fetched.length < FETCHED_AT_ONCE) return null;
      fetched = await sql.unsafe<Line[]>(`fetch ${FETCHED_AT_ONCE} from ${cursor}`);
      next = 0;
      return fetched[0] ?? null;
    },
    take() {
      next += 1;
    },
  };
}

async function writeAll(rows: Rows, write: (line: string) => Promise<void> | void): Promise<void> {
  for (let line = await rows.peek(); line !== null; line = await rows.peek()) {
    await write(oneLine(line.text));
    rows.take();
  }
}

/** The rows of each epoch together, table by table. */
async function writeByEpoch(
  sql: Transaction,
  conversationId: string,
  write: (line: string) => Promise<void> | void,
): Promise<void> {
  const tables: Rows[] = [];
  for (const table of FENCED_TABLES) tables.push(await openRows(sql, table, conversationId, true));
  for (;;) {
    const heads = await Promise.all(tables.map(async (rows) => (await rows.peek())?.epoch ?? Infinity));
    const epoch = Math.min(...heads);
    if (epoch === Infinity) return;
    for (const rows of tables) {
      for (let line = await rows.peek(); line?.epoch === epoch; line = await rows.peek()) {
        await write(oneLine(line.text));
        rows.take();
      }
    }
  }
}

/** A line break in JSON is white space: inside a string it is an escape. */
function oneLine(json: string): string {
  return json.replaceAll('\n', ' ');
}
