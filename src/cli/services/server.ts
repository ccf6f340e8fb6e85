import type { ServerOptions } from '../../server/start-server.ts';
import type { Database } from '../../store/database/database.ts';
import { clientCommand } from '../command.ts';
import type { CommandFlags } from '../command.ts';
import { connectOptions } from '../connect.ts';
import type { Surroundings } from '../connect.ts';
import { tenantOption } from '../holdfast-command.ts';
import { untilAborted, untilSignalled } from '../interruption.ts';
import { loginLink } from '../../server/login-link.ts';
import { openOutput } from '../output.ts';
import { readVersion } from '../../temporal/package-version.ts';
import { listenError } from './listen-error.ts';
import { startTelemetry } from './telemetry.ts';
import { count, option } from '../options.ts';

const OPTIONS = [
  option('--port <port>', 'port; 0 for a free one', count(0, 65_535), 7070),
  option('--host <address>', 'address to listen on', undefined, '127.0.0.1'),
  option('--keys', 'require an API key'),
  tenantOption(),
] as const;

type ServerFlags = CommandFlags<typeof OPTIONS>;

const server = clientCommand({
  description:
    'Serves conversations over HTTP: /v1 for programs, /reference for people, /openapi.json. Without --keys it listens on this machine only, for one tenant, and every program may do everything. With --keys each request names a key of `holdfast keys create`.',
  examples: ['npx holdfast server', 'npx holdfast server --keys --host 0.0.0.0 --port 8080'],
  options: OPTIONS,
  // Of the configuration the server needs the agents: what is wrong in it is told here.
  needs: { agents: true },
  run: ({ surroundings }, flags) =>
    flags.keys === true ? serveWithKeys(flags, surroundings) : serveLocally(flags, surroundings),
});

export const commands = { server };

type Served = Pick<ServerOptions, 'access' | 'clientOf' | 'needsKeys'> & { readonly database: Database };

async function serveLocally(flags: ServerFlags, surroundings: Surroundings): Promise<void> {
  const [{ localAccess }, { openConnection }, { Holdfast }, { readLoginSecret }, { stateDirectory }] =
    await Promise.all([
      import('../../server/access.ts'),
      import('../../client/connect.ts'),
      import('../../client/holdfast.ts'),
      import('../../local/login-secret.ts'),
      import('../../local/state-folder.ts'),
    ]);
  // Not the command's client: its pool would come on top of this one.
  const { context, disconnect } = await openConnection(await connectOptions(flags, surroundings));
  const client = new Holdfast(context, disconnect);
  const secret = await readLoginSecret(stateDirectory());
  const access = localAccess(flags.tenant ?? 'default', secret ?? undefined);
  try {
    await listen(flags, surroundings, { access, clientOf: () => client, database: context.database });
  } finally {
    await client.close();
  }
}

async function serveWithKeys(flags: ServerFlags, surroundings: Surroundings): Promise<void> {
  const [{ keyAccess }, { connectTenants }, { serverLimits }] = await Promise.all([
    import('../../server/access.ts'),
    import('../../client/tenants.ts'),
    import('../../server/limits.ts'),
  ]);
  const tenants = await connectTenants(await connectOptions(flags, surroundings));
  try {
    const access = keyAccess(tenants, serverLimits.parse(settingsIn(surroundings).limits));
    await listen(flags, surroundings, {
      access,
      clientOf: tenants.of,
      database: tenants.database,
      needsKeys: true,
    });
  } finally {
    await tenants.close();
  }
}

function settingsIn({ configuration }: Surroundings) {
  const { privateWebhooks = false, ...limits } = configuration?.server ?? {};
  return { privateWebhooks, limits };
}

/** Temporal's pages are known for a server of `holdfast dev`. */
async function findLinks(): Promise<ServerOptions['configured']['links']> {
  const { readStack } = await import('../../local/stack-file.ts');
  const temporal = readStack()?.temporal;
  if (temporal?.uiUrl == null) return [];
  return [{ name: 'temporal', url: `${temporal.uiUrl}/namespaces/${temporal.namespace}/workflows` }];
}

async function listen(flags: ServerFlags, surroundings: Surroundings, served: Served): Promise<void> {
  const [
    { startServer },
    { createServerLog },
    { configuredOf },
    { startWebhooks },
    { observeDatabase },
    { listAgentsOfWorkers },
  ] = await Promise.all([
    import('../../server/start-server.ts'),
    import('../../server/server-log.ts'),
    import('../../server/configured.ts'),
    import('../../server/webhooks.ts'),
    import('../../store/database/observe-database.ts'),
    import('../../store/upkeep/worker-sessions.ts'),
  ]);
  const { configuration } = surroundings;
  const { privateWebhooks: allowPrivate, limits } = settingsIn(surroundings);
  const { host, port } = flags;
  const output = openOutput();
  const endTelemetry = await startTelemetry('holdfast-server');
  const log = createServerLog(process.env['HOLDFAST_LOG_LEVEL']);
  const known = configuration === null ? { agents: [], presets: [] } : configuredOf(configuration);
  const configured = { ...known, links: await findLinks() };
  const { database, ...options } = served;
  observeDatabase(database);
  const checkReady = (): Promise<unknown> => database`select 1`;
  const agentsOfWorkers = (): Promise<string[]> => listAgentsOfWorkers(database);
  const parts = { ...options, configured, agentsOfWorkers, version: readVersion(), checkReady, limits, log };
  const started = await startServer({ ...parts, host, port }).catch((error: unknown) => {
    throw listenError(error, host, port);
  });
  const webhooks = startWebhooks({ database, allowPrivate, log });
  if (flags.json === true) output.json({ url: started.url, port: started.port });
  else output.lines(startLines(started.url, await loginLink(started.url), served.needsKeys === true));
  await untilSignalled(untilAborted);
  await started.close();
  await webhooks.end();
  await endTelemetry();
}

export function startLines(url: string, pages: string, needsKeys: boolean): string[] {
  return [
    `Holdfast's server is at ${url}. Ctrl-C stops it.`,
    `  pages:      ${pages}`,
    `  reference:  ${url}/reference`,
    `  example:    curl ${url}/v1/conversations${needsKeys ? ' -H "Authorization: Bearer <key>"' : ''}`,
  ];
}
