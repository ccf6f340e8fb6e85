import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { Hono } from 'hono';
import { requireScope } from './access.ts';
import { admit } from './admission.ts';
import type { Admitted } from './admission.ts';
import type { ApplicationParts } from './application.ts';
import { readBody } from './arguments.ts';
import { createMcpServer, NEXT_BY_TOOLS } from './mcp-server.ts';
import { problemOf, RequestError } from './problem.ts';

/** The tools of `holdfast mcp` over streamable HTTP. Each request stands alone, so any server of a deployment answers it. */
export function mcpRoutes(parts: ApplicationParts): Hono<Admitted> {
  const app = new Hono<Admitted>();
  app.post('/', admit(parts), async (context) => {
    const { caller } = context.var;
    const ending = parts.streams.endingOf(context);
    const parsedBody = await readBody(context);
    const server = createMcpServer(parts.clientOf(caller.tenant), parts.version, {
      name: caller.name,
      explain(error) {
        const { code, detail } = problemOf(error, parts.log);
        // What a problem says to do is meant for a caller of routes.
        return `${code}: ${detail.replace(/\.$/u, '')}. ${NEXT_BY_TOOLS[code] ?? ''}`.trimEnd();
      },
      async admit(scope, { conversation_id: conversationId, mode, workspace, agent, ...keys }, run) {
        requireScope(caller, scope);
        if (workspace !== undefined) {
          throw new RequestError('invalid_argument', 'Over HTTP an agent works in its own workspace.');
        }
        if (scope !== 'write') return run();
        await parts.requireAgent(typeof agent === 'string' ? agent : undefined);
        const idempotencyKey = keys.start_key ?? keys.message_id;
        const use = mode === 'queue' ? 'turn' : 'message';
        return parts.access.inRoom({ caller, use, sent: { conversationId, idempotencyKey } }, run);
      },
    });
    const transport = new WebStandardStreamableHTTPServerTransport({});
    await server.connect(transport);
    // A tool that waits stops waiting with its caller, and with the caller's key.
    ending.signal.addEventListener('abort', () => void server.close());
    return transport.handleRequest(context.req.raw, { parsedBody });
  });
  // There is no session, so nothing to listen to or to end.
  app.all('/', (context) => context.body(null, 405, { allow: 'POST' }));
  return app;
}
