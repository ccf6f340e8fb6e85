import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Database } from '../store/database/database.ts';
import { claimNamespace } from '../store/database/temporal-namespace.ts';
import { describeNamespace } from '../temporal/connect.ts';
import { createSearchAttributes } from '../temporal/search-attributes.ts';

/**
 * Makes sure that the database belongs to the namespace, and that the namespace has what every turn needs.
 * @throws StoreError `namespace_differs`; SearchAttributesError
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
  await claimNamespace(worker.database, await describeNamespace(worker.client));
  const created = await createSearchAttributes(worker.connection, namespace);
  if (created.length > 0) worker.logger.info({ created }, 'created the search attributes that turns set');
}
