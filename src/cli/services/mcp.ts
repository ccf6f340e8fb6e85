import { once } from 'node:events';
import { z } from 'zod';
import { clientCommand } from '../command.ts';
import { tenantOption } from '../holdfast-command.ts';
import { untilSignalled } from '../interruption.ts';
import { printRemark } from '../output.ts';
import { readVersion } from '../../temporal/package-version.ts';
import { answerUnreadable, messageLines } from './message-lines.ts';

const mcp = clientCommand({
  description:
    'Serves Holdfast to an assistant over the Model Context Protocol on standard input and output: start tasks, wait for them, search, decide on waiting calls. Ends with its input. The tasks go on in workers.',
  examples: ['npx holdfast mcp', 'claude mcp add holdfast -- npx holdfast mcp'],
  options: [tenantOption()],
  needs: { search: true },
  async run({ client }) {
    const [{ createMcpServer }, { StdioServerTransport }] = await Promise.all([
      import('../../server/mcp-server.ts'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
    ]);
    const { server } = createMcpServer(client, readVersion());
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    server.onerror = (error) => {
      if (error instanceof SyntaxError) answerUnreadable(-32_700, `Parse error: ${error.message}`);
      else if (error instanceof z.core.$ZodError)
        answerUnreadable(-32_600, 'Invalid Request: it is no JSON-RPC message');
      else printRemark(`warning: ${error.message}`);
    };
    const closed = new Promise<void>((resolve) => {
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
      server.onclose = resolve;
    });
    const input = messageLines();
    const ended = once(input, 'end');
    await server.connect(new StdioServerTransport(input, process.stdout, { maxBufferSize: Infinity }));
    await untilSignalled(async (signal) => {
      await Promise.race([closed, ended, once(signal, 'abort')]);
    });
    await server.close();
  },
});

export const commands = { mcp };
