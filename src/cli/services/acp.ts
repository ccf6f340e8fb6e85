import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { clientCommand } from '../command.ts';
import { tenantOption } from '../holdfast-command.ts';
import { untilSignalled } from '../interruption.ts';
import { readVersion } from '../../temporal/package-version.ts';
import { messageLines } from './message-lines.ts';

const acp = clientCommand({
  description:
    'Serves the agents of holdfast.yaml to an editor that speaks the Agent Client Protocol, on standard input and output. Turns run in workers: they go on when the editor is closed, and loading the session shows what happened meanwhile.',
  examples: ['npx holdfast acp', "npx acpx@0.15.1 --agent 'npx holdfast acp' exec 'What does this project do?'"],
  options: [tenantOption()],
  needs: { agents: true },
  async run({ client, surroundings: { configuration } }) {
    const [{ createAcpAgent }, { ndJsonStream }] = await Promise.all([
      import('../../server/acp/acp-agent.ts'),
      import('@agentclientprotocol/sdk'),
    ]);
    if (configuration === null) throw new TypeError('the agents of the file are needed');
    const agent = createAcpAgent({ client, configuration, version: readVersion() });
    const input = Readable.toWeb(messageLines()) as ReadableStream<Uint8Array>;
    const connection = agent.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
    await untilSignalled(async (signal) => {
      await Promise.race([connection.closed, once(signal, 'abort')]);
    });
    connection.close();
  },
});

export const commands = { acp };
