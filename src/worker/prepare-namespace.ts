import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Database } from '../store/database/database.ts';
import { claimNamespace, requireNamespace } from '../store/database/temporal-namespace.ts';
import { ensureNamespace } from '../temporal/namespace.ts';
import { createSearchAttributes } from '../temporal/search-attributes.ts';

/**
 * Makes sure that the database belongs to the namespace, and that the namespace has what every turn needs.
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
  // Before one is created that only a wrong name asks for.
  await requireNamespace(worker.database, { name: namespace });
  await claimNamespace(worker.database, await ensureNamespace(worker.client));
  const created = await createSearchAttributes(worker.connection, namespace);
  if (created.length > 0) worker.logger.info({ created }, 'created the search attributes that turns set');
}
