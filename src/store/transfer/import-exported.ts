import postgres from 'postgres';
import type { Database } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { requireCurrentSchema } from '../database/migrate.ts';
import { writeEvents } from '../database/transaction.ts';
import { RecordingError } from '../log/record-log.ts';
import { FileImporter } from './file-importer.ts';
import type { ImportedFile, ImportExportedRequest } from './file-importer.ts';
import { invalid, readConversationFile } from './read-file.ts';

/**
 * Stores what `exportConversation` wrote, whole or not at all: its entries pass the fences that those of a turn pass; references are
 * checked at the end. Search indexes it afterwards.
 *
 * @throws StoreError `conversation_file_invalid` with the line; `conversation_exists`, of a file that is whole
 */
export async function importExportedConversation(sql: Database, request: ImportExportedRequest): Promise<ImportedFile> {
  const { conversationId, rows } = await readConversationFile(request.lines);
  return writeEvents(sql, conversationId, async (source) => {
    const open = source.sql;
    await open`set constraints all deferred`;
    await open`set local timezone to 'UTC'`;
    await open`set local idle_in_transaction_session_timeout = 0`;
    await requireCurrentSchema(open);
    const importer = new FileImporter(source, conversationId, request);
    const isNew = await importer.begin();
    let line = 1;
    for await (const row of rows) {
      ({ line } = row);
      // Read to the end all the same: whoever makes room for a file that is not whole loses the only good copy.
      if (isNew) await importer.add(row).catch((error: unknown) => Promise.reject(faultOfFile(error, line)));
    }
    if (isNew) return importer.finish().catch((error: unknown) => Promise.reject(faultOfFile(error, line)));
    throw new StoreError(
      'conversation_exists',
      `conversation ${conversationId} is in this database already; the file is whole, and nothing was changed`,
    );
  });
}

/**
 * A value that Postgres does not take, a row that is there twice, and one that the fences of the log do not admit are the
 * file's fault. The words of Postgres hold the value and are left out, the cause too; those of the fences hold ids and numbers.
 */
function faultOfFile(error: unknown, line: number): unknown {
  if (error instanceof RecordingError) return invalid(line, error.message);
  if (error instanceof RangeError) return invalid(line, 'a value is nested too deeply');
  if (!(error instanceof postgres.PostgresError)) return error;
  const { table_name: table, column_name: column, code, message } = error;
  if (code.startsWith('HF')) {
    const what = message.replace(/^conversation \S+: /u, '');
    return invalid(line, `it does not follow from the lines before (${what}): one is missing, doubled or changed`);
  }
  if (!/^2[23]/u.test(code)) return error;
  const place = [table, column].filter((each) => each !== undefined).join('.');
  return invalid(line, `Postgres refuses a value${place === '' ? '' : ` of ${place}`} (SQLSTATE ${code})`);
}
