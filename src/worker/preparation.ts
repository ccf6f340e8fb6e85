import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { connectDatabase, isPooled, SILENCE_LIMIT_MILLISECONDS } from '../store/database/database.ts';
import type { Database } from '../store/database/database.ts';
import { requireCurrentSchema } from '../store/database/migrate.ts';
import { openDatabase, requireNotifications, WITHOUT_DIRECT_CONNECTION } from '../store/database/pooler.ts';
import { claimNamespace, requireNamespace } from '../store/database/temporal-namespace.ts';
import { createSearchAttributes, ensureNamespace } from '../temporal/namespace.ts';

export interface DatabaseAddress {
  readonly databaseUrl: string;
  /** Direct address of the same database, without a pooler. Default: `databaseUrl`. */
  readonly databaseListenUrl?: string | null;
}

/**
 * One pool for all, a connection for live text, whose session shows that the worker lives, and one that renews the worker's row, so that a
 * sign of life never waits behind its work.
 * @throws StoreError `database_pooled`
 */
export async function openPools({ databaseUrl: url, databaseListenUrl: listenUrl = null }: DatabaseAddress) {
  const silenceLimitMilliseconds = SILENCE_LIMIT_MILLISECONDS;
  const database = await openDatabase({
    url,
    listenUrl,
    applicationName: 'holdfast-worker',
    maximumConnections: 20,
    silenceLimitMilliseconds,
  });
  const liveDatabase = connectDatabase({
    url: listenUrl ?? url,
    applicationName: 'holdfast-live',
    maximumConnections: 1,
    silenceLimitMilliseconds,
    keepsSession: true,
  });
  const sessionDatabase = connectDatabase({
    url,
    applicationName: 'holdfast-session',
    maximumConnections: 1,
    silenceLimitMilliseconds,
  });
  /** `false`: every way to Postgres leads through a pooler. */
  const isDirect = !isPooled(liveDatabase);
  return { database, liveDatabase, sessionDatabase, isDirect };
}

/** @throws StoreError `database_pooled`, `database_behind`, `database_differs` */
export async function checkDatabase(
  { database, isDirect }: Pick<Awaited<ReturnType<typeof openPools>>, 'database' | 'isDirect'>,
  logger: Logger,
): Promise<void> {
  if (isDirect) await requireNotifications(database);
  else logger.warn(`${WITHOUT_DIRECT_CONNECTION}; name one in DATABASE_LISTEN_URL`);
  await requireCurrentSchema(database);
}

/**
 * Makes sure that the database belongs to the namespace, and that the namespace has the search attributes of turns.
 * @throws StoreError `namespace_differs`; TemporalError `namespace_missing`, `search_attributes_missing`
 */
export async function prepareNamespace(
  namespace: string,
  worker: {
    readonly database: Database;
    readonly connection: NativeConnection;
    readonly client: Client;
    readonly logger: Logger;
  },
): Promise<void> {
  // Checked first, so that a wrong name creates no namespace.
  await requireNamespace(worker.database, { name: namespace });
  await claimNamespace(worker.database, await ensureNamespace(worker.client));
  const created = await createSearchAttributes(worker.connection, namespace);
  if (created.length > 0) worker.logger.info({ created }, 'created the search attributes that turns set');
}
