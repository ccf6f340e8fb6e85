import { join } from 'node:path';
import postgres from 'postgres';
import { freePort } from '../ports.ts';
import { startPostgres } from './postgres.ts';

/**
 * Creates a cluster in the folder, starts it, asks it something and stops it.
 *
 * @throws StackError that says what is wrong and what to do.
 */
export async function checkPostgresStarts(directory: string): Promise<void> {
  const server = await startPostgres({
    dataDirectory: join(directory, 'data'),
    port: await freePort(),
    durable: false,
  });
  try {
    const sql = postgres(server.url('postgres'), { max: 1, fetch_types: false });
    try {
      await sql`select 1`;
    } finally {
      await sql.end();
    }
  } finally {
    await server.stop();
  }
}
