import { connectDatabase } from '../store/database/database.ts';
import type { Database } from '../store/database/database.ts';
import { createBoundary } from './client-context.ts';
import { openConnection } from './connect.ts';
import type { ConnectOptions } from './connect.ts';
import { HoldfastClientError } from './errors.ts';
import { Holdfast } from './holdfast.ts';
import { waysToSend } from './sending/ways-to-send.ts';

/** Connections of one tenant at most; idle ones are closed. */
const CONNECTIONS_OF_TENANT = 4;

/** Tenants that begin a turn at the same moment. */
const LOCKED_TENANTS = 10;

/** Clients that each see one tenant's rows, because Postgres shows their connections no others. */
export interface TenantClients {
  readonly of: (tenant: string) => Holdfast;
  /** As the application, for keys. */
  readonly database: Database;
  /** The same, for locks that are held while the clients work. */
  readonly locks: Database;
  close(): Promise<void>;
}

/**
 * Connects for many tenants. The login must be a member of `holdfast_app` and `holdfast_api`.
 * @throws as `connect`; HoldfastClientError `database_refused` where the login may not act as `holdfast_api`, or Postgres is older than 15
 */
export async function connectTenants(options: Omit<ConnectOptions, 'tenant'>): Promise<TenantClients> {
  // The policies of tenants hold for a login that inherits from holdfast_api: without a tenant it would see nothing.
  const { context, databaseUrl, disconnect } = await openConnection(options, { role: 'holdfast_app' });
  const clients = new Map<string, Holdfast>();
  const pool = (settings: Readonly<Record<string, string>>, maximumConnections: number): Database =>
    connectDatabase({
      url: databaseUrl,
      applicationName: 'holdfast-server',
      maximumConnections,
      ...(context.database.options.transaction_settings !== undefined && { pooled: true }),
      settings,
    });
  const locks = pool({ role: 'holdfast_app' }, LOCKED_TENANTS);
  const open = (tenant: string): Holdfast => {
    const database = pool({ role: 'holdfast_api', 'holdfast.tenant': tenant }, CONNECTIONS_OF_TENANT);
    const { taskQueue, temporal, doorbell } = context;
    const sending = waysToSend(database, { temporal, doorbell, owner: { tenant, taskQueue } });
    return new Holdfast({ ...context, database, sending, tenant, boundary: createBoundary() }, () =>
      database.end({ timeout: 1 }),
    );
  };
  const of = (tenant: string): Holdfast => {
    const client = clients.get(tenant) ?? open(tenant);
    clients.set(tenant, client);
    return client;
  };
  const close = async (): Promise<void> => {
    await context.doorbell.settle();
    await Promise.all([...clients.values()].map((client) => client.close()));
    await locks.end({ timeout: 1 });
    await disconnect();
  };
  try {
    await of(context.tenant).conversation.list({ limit: 1 });
  } catch (error) {
    await close();
    throw roleMissing(error);
  }
  return { of, database: context.database, locks, close };
}

function roleMissing(error: unknown): unknown {
  const isRefused =
    error instanceof Error && 'code' in error && /^(?:42501|22023|42704|42P01)$/u.test(String(error.code));
  if (!isRefused) return error;
  return new HoldfastClientError(
    'database_refused',
    'tenants are not kept apart in this database, or this login may not act as holdfast_api',
    {
      cause: error,
      next: 'Run `npx holdfast db migrate --tenants`, on Postgres 15 or newer, and grant holdfast_api to the login.',
    },
  );
}
