import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from 'holdfast/internal/local/ports.js';
import { ensureDatabase, startPostgres } from 'holdfast/internal/local/postgres/postgres.js';
import { sharedDirectory } from 'holdfast/internal/local/shared-directory.js';
import { connectDatabase } from 'holdfast/internal/store/database/database.js';
import type { Database } from 'holdfast/internal/store/database/database.js';
import { newId } from 'holdfast/internal/store/database/ids.js';
import { migrate } from 'holdfast/internal/store/database/migrate.js';

/** A database of its own, which is deleted at the end. */
export interface LabStore {
  readonly database: Database;
  close(): Promise<void>;
}

/**
 * Makes a database on the server of `DATABASE_URL`; without one, on an embedded Postgres that runs until the end.
 * @throws StackError if there is no embedded Postgres or it does not start; StoreError for a wrong address
 */
export async function openLabStore({
  DATABASE_URL: url,
}: Readonly<Record<string, string | undefined>>): Promise<LabStore> {
  return url === undefined ? openEmbedded() : openOn(url);
}

async function openEmbedded(): Promise<LabStore> {
  // Root's Postgres runs as another user, who must reach the folder.
  const parent = process.getuid?.() === 0 ? await sharedDirectory() : tmpdir();
  const directory = await mkdtemp(join(parent, 'lab-'));
  await chmod(directory, 0o711);
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const server = await startPostgres({
      dataDirectory: join(directory, 'postgres'),
      port: await freePort(),
      durable: false,
      logFile: join(directory, 'postgres.log'),
    });
    try {
      await ensureDatabase(server, 'lab');
      const database = await openMigrated(server.url('lab'));
      return {
        database,
        close: async () => {
          await database.end({ timeout: 1 });
          await server.stop();
          await remove();
        },
      };
    } catch (error) {
      await server.stop();
      throw error;
    }
  } catch (error) {
    await remove();
    throw error;
  }
}

async function openOn(url: string): Promise<LabStore> {
  const name = `holdfast_lab_${newId().replaceAll('-', '')}`;
  const own = new URL(url);
  own.pathname = `/${name}`;
  const admin = connectDatabase({ url, maximumConnections: 1 });
  const drop = async () => {
    await admin`drop database if exists ${admin(name)} with (force)`;
    await admin.end();
  };
  try {
    await admin`create database ${admin(name)}`;
    const database = await openMigrated(own.href);
    return {
      database,
      close: async () => {
        await database.end({ timeout: 1 });
        await drop();
      },
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

async function openMigrated(url: string): Promise<Database> {
  const database = connectDatabase({
    url,
    applicationName: 'holdfast-lab',
    // Nobody waits for its locks, and a replay on a busy machine, or one that slept, goes on.
    settings: { idle_in_transaction_session_timeout: '0' },
  });
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database.end();
    throw error;
  }
}
