import type { PayloadCodec } from '@temporalio/common';
import { definedOf } from '../context/policy/defined-of.ts';
import { DEFAULT_TENANT } from '../store/conversations/conversations.ts';
import { SILENCE_LIMIT_MILLISECONDS } from '../store/database/database.ts';
import type { Database, DatabaseOptions } from '../store/database/database.ts';
import { createListeners } from '../store/database/listen.ts';
import { openDatabase } from '../store/database/pooler.ts';
import { requireCurrentSchema } from '../store/database/migrate.ts';
import { StoreError } from '../store/database/errors.ts';
import type { MeaningSearch, TextEmbedder } from '../store/search/find-by-meaning.ts';
import { temporalAt } from '../temporal/profile.ts';
import type { TemporalAddress } from '../temporal/profile.ts';
import { DEFAULT_TURN_TASK_QUEUE } from '../turn/temporal-names.ts';
import { z } from 'zod';
import { checkArguments, formed, named, text, work } from './arguments.ts';
import { createBoundary, lazyTemporal } from './client-context.ts';
import type { ClientContext } from './client-context.ts';
import { createDoorbell } from './sending/doorbell.ts';
import { clientError, HoldfastClientError } from './errors.ts';
import type { HoldfastClient } from './holdfast.ts';
import { Holdfast } from './holdfast.ts';
import type { RemoteOptions } from './remote/remote.ts';
import { waysToSend } from './sending/ways-to-send.ts';

export interface ConnectOptions {
  /**
   * `postgres://user:password@host:port/database`, migrated by `holdfast db migrate`. Default: `DATABASE_URL`, else `holdfast.yaml`, else
   * the local stack of `holdfast dev`. The last two are looked for here and in the folders above.
   */
  readonly databaseUrl?: string;
  /**
   * The same database without a pooler in between, for notifications. Default: `databaseUrl` if you give that, else
   * `DATABASE_LISTEN_URL` or `holdfast.yaml`, else the found address of the database.
   */
  readonly listenUrl?: string;
  /** Address and namespace. Default: the `TEMPORAL_*` variables and the profile that they name, else found like the database. */
  readonly temporal?: TemporalAddress;
  /** The same codecs as the workers have. Default: the codec server of `temporal`, else none. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  /** Queue of the workers that take the turns. Default: `HOLDFAST_TASK_QUEUE`, else `agent-turn`. */
  readonly taskQueue?: string;
  /**
   * The client starts, lists and searches conversations of this tenant, and uses its standing approvals. It is not access control: an id
   * opens a conversation of any tenant. Default: `default`.
   */
  readonly tenant?: string;
  /** Adds search by meaning, made by `createEmbeddingClient` with the model of the workers. Default: search by words alone. */
  readonly embedder?: TextEmbedder;
  /** Called when the query could not be embedded, so that a search used words alone. Default: nothing. */
  readonly onEmbeddingFailure?: (error: unknown) => void;
  /** Called when a stored message could not be signalled to Temporal. A worker finds it by upkeep. Default: nothing. */
  readonly onDoorbellFailure?: (conversationId: string, error: unknown) => void;
}

/** The value is never shown: it may hold a password. */
const databaseAddress = formed(
  /^postgres(?:ql)?:\/\/\S*$/u,
  'must be an address that begins with postgres://',
).optional();

const CONNECT = z.object({
  databaseUrl: databaseAddress,
  listenUrl: databaseAddress,
  temporal: z.object({ address: formed(/^\S+:\d{1,5}$/u, 'must be host:port'), namespace: text.optional() }).optional(),
  taskQueue: named.optional(),
  tenant: named.optional(),
  onDoorbellFailure: work.optional(),
});

const REMOTE = z.object({
  url: formed(/^https?:\/\/\S+$/u, 'must be an address that begins with http:// or https://'),
  apiKey: formed(/^\S+$/u, 'must be a key').optional(),
});

/** What the clients of a process share. */
export interface Connection {
  readonly databaseUrl: string;
  readonly context: ClientContext;
  readonly disconnect: () => Promise<void>;
}

/**
 * Connects to Postgres at once, and to Temporal at the first message, so reading works without Temporal.
 * @throws HoldfastClientError `invalid_argument`, `database_unreachable`, `database_refused`, `database_pooled`, `database_schema`
 * @throws `StackError` `stack_not_started` if no server is given or found; `ConfigurationError` if `holdfast.yaml` is wrong
 */
export async function connect(options?: ConnectOptions): Promise<Holdfast>;
/** With `url` it connects to a `holdfast server`, at the first request. */
export async function connect(options: RemoteOptions): Promise<HoldfastClient>;
export async function connect(options: ConnectOptions | RemoteOptions = {}): Promise<HoldfastClient> {
  if ('url' in options) {
    checkArguments('connect', REMOTE, options);
    const { connectRemote } = await import('./remote/remote.ts');
    return connectRemote(options);
  }
  const { context, disconnect } = await openConnection(options);
  return new Holdfast(context, disconnect);
}

/** @param settings of each connection to Postgres @throws as `connect` */
export async function openConnection(
  options: ConnectOptions,
  settings: DatabaseOptions['settings'] = {},
): Promise<Connection> {
  checkArguments('connect', CONNECT, options);
  const servers = await serversOf(options);
  const database = await openCurrentDatabase(servers, settings);
  const temporal = lazyTemporal(database, servers.temporal, options.payloadCodecs);
  const { tenant = DEFAULT_TENANT, onDoorbellFailure = () => undefined } = options;
  const taskQueue = options.taskQueue ?? process.env['HOLDFAST_TASK_QUEUE'] ?? DEFAULT_TURN_TASK_QUEUE;
  const doorbell = createDoorbell({ temporal, taskQueue }, onDoorbellFailure);
  const listeners = createListeners(database);
  const sending = waysToSend(database, { temporal, doorbell, owner: { tenant, taskQueue } });
  return {
    databaseUrl: servers.databaseUrl,
    context: {
      database,
      listeners,
      temporal,
      doorbell,
      sending,
      meaning: meaningOf(options),
      tenant,
      taskQueue,
      boundary: createBoundary(),
    },
    async disconnect() {
      await doorbell.settle();
      await listeners.close();
      await database.end({ timeout: 1 });
      await temporal.close();
    },
  };
}

interface Servers {
  readonly databaseUrl: string;
  readonly listenUrl: string | null;
  readonly temporal: TemporalAddress;
}

async function serversOf({ databaseUrl, temporal, ...options }: ConnectOptions): Promise<Servers> {
  const listenUrl = options.listenUrl ?? null;
  if (databaseUrl !== undefined && temporal !== undefined) return { databaseUrl, listenUrl, temporal };
  // Loaded late: an application that names its servers does without the local stack.
  const { findServers } = await import('../local/find-servers.ts');
  const given = definedOf({ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal?.address });
  const { problem, ...found } = findServers({ environment: { ...process.env, ...given } });
  if (problem !== null) throw problem;
  return {
    databaseUrl: found.databaseUrl,
    listenUrl: listenUrl ?? (databaseUrl === undefined ? found.databaseListenUrl : null),
    temporal: temporal ?? temporalAt(found, process.env),
  };
}

/** @throws HoldfastClientError as `connect`; `invalid_argument` for an address that cannot be read */
async function openCurrentDatabase(
  { databaseUrl: url, listenUrl }: Servers,
  settings: NonNullable<DatabaseOptions['settings']>,
): Promise<Database> {
  const options = {
    url,
    listenUrl,
    settings,
    applicationName: 'holdfast-client',
    silenceLimitMilliseconds: SILENCE_LIMIT_MILLISECONDS,
  };
  let database: Database | undefined;
  try {
    database = await openDatabase(options);
    await requireCurrentSchema(database);
    return database;
  } catch (error) {
    await database?.end({ timeout: 1 });
    if (!(error instanceof StoreError) || error.code !== 'database_url_invalid') throw clientError(error);
    throw new HoldfastClientError('invalid_argument', `connect: databaseUrl is refused: ${error.message}`);
  }
}

function meaningOf({ embedder, onEmbeddingFailure: onFailure }: ConnectOptions): MeaningSearch | null {
  return embedder === undefined ? null : { embedder, ...(onFailure !== undefined && { onFailure }) };
}
