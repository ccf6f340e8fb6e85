import { connectDatabase, isPooled } from '../store/database/database.ts';
import type { Database } from '../store/database/database.ts';
import { requireCurrentSchema } from '../store/database/migrate.ts';
import { refuseUndeclaredPooler, requireNotifications } from '../store/database/pooler.ts';

/** Milliseconds until a connection to Postgres that does not answer is given up: as long as a database activity may take. */
const DATABASE_SILENCE_MILLISECONDS = 30_000;

export interface DatabaseAddress {
  readonly databaseUrl: string;
  /** The same database without a pooler in between. Default: `databaseUrl`. */
  readonly databaseListenUrl?: string | null;
}

/** One pool for all, a connection of its own for live text, and one whose session says that the worker lives. */
export function openPools({ databaseUrl: url, databaseListenUrl: listenUrl = null }: DatabaseAddress) {
  const silenceLimitMilliseconds = DATABASE_SILENCE_MILLISECONDS;
  const database = connectDatabase({
    url,
    listenUrl,
    applicationName: 'holdfast-worker',
    maximumConnections: 20,
    silenceLimitMilliseconds,
  });
  return {
    database,
    /** `null`: there is no way to Postgres without a pooler. */
    sessionDatabase:
      listenUrl === null && isPooled(database)
        ? null
        : connectDatabase({
            url: listenUrl ?? url,
            applicationName: 'holdfast-session',
            maximumConnections: 1,
            silenceLimitMilliseconds,
            keepsSession: true,
          }),
    liveDatabase: connectDatabase({
      url,
      applicationName: 'holdfast-live',
      maximumConnections: 1,
      silenceLimitMilliseconds,
    }),
  };
}

/** @throws StoreError `database_pooled`, `database_behind`, `database_differs` */
export async function checkDatabase(database: Database): Promise<void> {
  await refuseUndeclaredPooler(database);
  await requireNotifications(database);
  await requireCurrentSchema(database);
}
