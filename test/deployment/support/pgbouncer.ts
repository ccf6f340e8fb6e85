import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDatabase } from '../../../src/store/database/database.ts';
import { serverEnvironment, startGuardedProcess } from '../../../src/local/guarded-process.ts';
import { freePort } from '../../../src/local/ports.ts';
import { userForPostgres } from '../../../src/local/postgres/unprivileged-user.ts';
import { waitUntil } from '../../support/wait-until.ts';

export interface PgBouncer {
  /** The same login and database, through it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Debian's PgBouncer in front of a Postgres that requires TLS. @param direct address of the login on Postgres itself */
export async function startPgBouncer(
  direct: string,
  { mode, directory }: { readonly mode: 'session' | 'transaction'; readonly directory: string },
): Promise<PgBouncer> {
  const target = new URL(direct);
  const port = await freePort();
  const user = await userForPostgres();
  const file = (name: string): string => join(directory, `pgbouncer-${mode}.${name}`);
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(file(name), text);
    if (user !== null) await chown(file(name), user.uid, user.gid);
  };
  await write('users', `"${target.username}" "${decodeURIComponent(target.password)}"\n`);
  await write(
    'ini',
    `[databases]
* = host=127.0.0.1 port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${file('users')}
pool_mode = ${mode}
default_pool_size = ${mode === 'session' ? 80 : 10}
max_client_conn = 300
server_tls_sslmode = require
`,
  );
  const process = await startGuardedProcess({
    name: 'PgBouncer',
    command: '/usr/sbin/pgbouncer',
    arguments: [file('ini')],
    environment: serverEnvironment(),
    workingDirectory: '/',
    user,
    logFile: file('log'),
  });
  const url = new URL(direct);
  url.port = String(port);
  url.hostname = '127.0.0.1';
  url.search = mode === 'transaction' ? 'sslmode=disable&pgbouncer=true' : 'sslmode=disable';
  await waitUntil('PgBouncer answers', async () => {
    const sql = connectDatabase({ url: url.href, maximumConnections: 1 });
    const answers = await sql`select 1`.then(
      () => true,
      () => false,
    );
    await sql.end({ timeout: 1 });
    return answers;
  });
  return { url: url.href, stop: () => process.stop() };
}
