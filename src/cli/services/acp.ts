import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { withClient } from '../connect.ts';
import { holdfastCommand, tenantOption, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { untilSignalled } from '../interruption.ts';
import { readVersion } from '../package-version.ts';

/** `holdfast acp`: Holdfast as an agent of an editor. */
export function acpCommand(): Command {
  return withConnections(
    holdfastCommand('acp', {
      description:
        'Serves the agents of holdfast.yaml to an editor that speaks the Agent Client Protocol, on standard input and output. Turns run in workers: they go on when the editor is closed, and loading the session shows what happened meanwhile.',
      examples: ['npx holdfast acp', "npx acpx --agent 'npx holdfast acp' 'What does this project do?'"],
    }),
  )
    .addOption(tenantOption())
    .action(serve);
}

async function serve(flags: ConnectionFlags): Promise<void> {
  const [{ createAcpAgent }, { ndJsonStream }] = await Promise.all([
    import('../../server/acp/acp-agent.ts'),
    import('@agentclientprotocol/sdk'),
  ]);
  await withClient(flags, { agents: true }, async (client, { configuration }) => {
    if (configuration === null) throw new TypeError('the agents of the file are needed');
    const agent = createAcpAgent({ client, configuration, version: readVersion() });
    const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
    const connection = agent.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
    await untilSignalled(async (signal) => {
      await Promise.race([connection.closed, once(signal, 'abort')]);
    });
    connection.close();
  });
}
