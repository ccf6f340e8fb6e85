import { createHash } from 'node:crypto';
import { getConversation } from '../conversations/conversations.ts';
import type { Database } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { requireCurrentSchema } from '../database/migrate.ts';
import { transaction } from '../database/transaction.ts';
import { CONVERSATION_FORMAT, CONVERSATION_FORMAT_VERSION } from './conversation-file.ts';
import { FILE_TABLES } from './file-tables.ts';

/** Rows fetched at a time; one may hold a piece of 256 KB. */
const FETCHED_AT_ONCE = 100;

/**
 * Writes a conversation as lines of JSON: itself, what was said with originals, summaries and all branches, and the SHA-256 of all lines
 * before, each with a line feed. One snapshot, however long it takes.
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
    const conversation = await getConversation(open, conversationId);
    if (conversation === null)
      throw new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
    if (conversation.state !== 'idle')
      throw new StoreError(
        'conversation_busy',
        `conversation ${conversationId} is at work, or a message waits: export it once it is idle`,
      );
    const checksum = createHash('sha256');
    for (const [table, query] of Object.entries(FILE_TABLES)) {
      const format = `'format', '${CONVERSATION_FORMAT}', 'version', ${CONVERSATION_FORMAT_VERSION}, `;
      const lines = open.unsafe<{ line: string }[]>(
        `select json_build_object(${table === 'conversations' ? format : ''}'table', '${table}', 'row', row_to_json(r))::text as line
        from (${query}) as r`,
        [conversationId],
      );
      for await (const fetched of lines.cursor(FETCHED_AT_ONCE)) {
        for (const { line } of fetched) {
          // A line break in JSON is white space: inside a string it is an escape.
          const written = line.replaceAll('\n', ' ');
          checksum.update(`${written}\n`);
          await write(written);
        }
      }
    }
    // Without a last line nobody could tell a file that was cut off between two lines from a whole one.
    await write(JSON.stringify({ sha256: checksum.digest('hex') }));
  });
}
