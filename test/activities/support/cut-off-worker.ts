import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { ActivityDependencies } from '../../../src/activities/runtime/dependencies.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import type { Database, DatabaseOptions } from '../../../src/store/database/database.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

/** Connections to Postgres that can be cut; closed with the test. */
export async function databaseBehindProxy(databaseUrl: string, options: Partial<DatabaseOptions> = {}) {
  const proxy = await startTcpProxy(databaseUrl);
  const database = connectDatabase({
    url: proxy.url(databaseUrl),
    applicationName: 'cut-off',
    maximumConnections: 2,
    ...options,
  });
  onTestFinished(async () => {
    await proxy.mend();
    await database.end({ timeout: 1 });
    await proxy.close();
  });
  return { proxy, database };
}

/** A worker whose connections to Postgres can be cut, and how often it found that something had to wait. */
export async function cutOffWorker(databaseUrl: string, dependenciesOf: (database: Database) => ActivityDependencies) {
  const { proxy, database } = await databaseBehindProxy(databaseUrl);
  const waits: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => line.includes('Postgres is away') && waits.push(line) });
  const dependencies: ActivityDependencies = { ...dependenciesOf(database), logger };
  return { proxy, dependencies, waits };
}
