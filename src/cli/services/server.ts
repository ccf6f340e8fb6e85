import type { Command } from 'commander';
import { withClient } from '../connect.ts';
import { count } from '../count-option.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { untilSignalled } from '../interruption.ts';
import { listenError } from './listen-error.ts';
import { openOutput } from '../output.ts';
import { readVersion } from '../package-version.ts';

interface ServerFlags extends ConnectionFlags {
  readonly host: string;
  readonly port: number;
}

/** `holdfast server`: the API over HTTP. */
export function serverCommand(): Command {
  return withConnections(
    holdfastCommand('server', {
      description:
        'Serves conversations over HTTP: /v1 for programs, /reference for people, /openapi.json. It listens on this machine only.',
      examples: ['npx holdfast server', 'npx holdfast server --port 8080'],
    }),
  )
    .option('--port <port>', 'port; 0 for a free one', count(0, 65_535), 7070)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .action(serve);
}

async function serve(flags: ServerFlags): Promise<void> {
  const [{ startServer }, { createServerLog }] = await Promise.all([
    import('../../server/start-server.ts'),
    import('../../server/server-log.ts'),
  ]);
  const output = openOutput();
  const { host, port } = flags;
  await withClient(flags, {}, async (client) => {
    const log = createServerLog(process.env['HOLDFAST_LOG_LEVEL']);
    const server = await startServer({ client, version: readVersion(), host, port, log }).catch((error: unknown) => {
      throw listenError(error, host, port);
    });
    if (flags.json === true) output.json({ url: server.url, port: server.port });
    else
      output.lines([
        `Holdfast's server is at ${server.url}. Ctrl-C stops it.`,
        `  reference:  ${server.url}/reference`,
        `  example:    curl ${server.url}/v1/conversations`,
      ]);
    await untilSignalled(async (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
    await server.close();
  });
}
