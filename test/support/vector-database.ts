import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { connectDatabase, setSearchPath } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { migrate, migrateEmbeddings } from '../../src/store/database/migrate.ts';

/** A migrated Postgres with pgvector, in this process behind a socket: the embedded one has no such extension. */
/** @param dimensions of the vectors that are to be led by an index */
export async function startVectorDatabase(
  dimensions: number,
): Promise<{ readonly sql: Database; close(): Promise<void> }> {
  const engine = await PGlite.create({ extensions: { vector, pg_trgm } });
  const server = new PGLiteSocketServer({ db: engine, port: 0, host: '127.0.0.1', maxConnections: 10 });
  await server.start();
  // It is one session, however many connect.
  const url = `postgres://postgres:postgres@${server.getServerConn()}/postgres`;
  const sql = connectDatabase({ url, maximumConnections: 1 });
  // As managed servers have it, in a schema of its own.
  await sql.unsafe('create schema extensions; create extension vector schema extensions');
  await migrate(sql);
  await migrateEmbeddings(sql, dimensions);
  // It passes no settings of a connection on.
  await sql.unsafe(setSearchPath('connection'));
  return {
    sql,
    async close() {
      await sql.end({ timeout: 5 });
      await server.stop();
      await engine.close();
    },
  };
}
