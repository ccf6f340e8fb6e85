import { chmod, chown, copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { LocalPostgres } from '../../src/local/postgres/postgres.ts';
import { waitUntil } from './wait-until.ts';

export const TEST_AUTHORITY = fileURLToPath(new URL('tls/ca.pem', import.meta.url));

/** Lets a test's Postgres accept TLS beside plain connections, with the certificate for `localhost` of `test/support/tls`. */
export async function acceptTls(server: LocalPostgres): Promise<void> {
  const sql = connectDatabase({ url: server.url('postgres'), maximumConnections: 1 });
  try {
    const [row] = await sql<{ dataDirectory: string }[]>`show data_directory`;
    const directory = row?.dataDirectory ?? '';
    const { uid, gid } = await stat(directory);
    for (const [file, name] of [
      ['server.pem', 'server.crt'],
      ['server.key', 'server.key'],
    ] as const) {
      const target = join(directory, name);
      await copyFile(fileURLToPath(new URL(`tls/${file}`, import.meta.url)), target);
      await chown(target, uid, gid);
      // Postgres refuses a key that others may read.
      await chmod(target, 0o600);
    }
    await sql.unsafe('alter system set ssl = on');
    await sql`select pg_reload_conf()`;
    const url = new URL(server.url('postgres'));
    url.search = 'sslmode=require';
    await waitUntil('TLS is accepted', async () => {
      const tls = connectDatabase({ url: url.href, maximumConnections: 1 });
      const accepted = await tls`select 1`.then(
        () => true,
        () => false,
      );
      await tls.end({ timeout: 1 });
      return accepted;
    });
  } finally {
    await sql.end();
  }
}
