import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { requireScope } from './access.ts';
import type { ApplicationParts } from './application.ts';
import { readBody } from './arguments.ts';
import { createMcpServer } from './mcp-server.ts';
import { RequestError } from './problem.ts';

/** The tools of `holdfast mcp` over streamable HTTP. Each request stands alone, so any server of a deployment answers it. */
export function mcpRoutes({ access, clientOf, limits, version }: ApplicationParts): Hono {
  const app = new Hono();
  const limit = bodyLimit({
    maxSize: limits.bodyBytes,
    onError: () => {
      throw new RequestError('body_too_large', `A body has at most ${limits.bodyBytes} bytes.`);
    },
  });
  app.post('/', limit, async (context) => {
    const caller = await access.callerOf(context);
    const parsedBody = await readBody(context);
    const server = createMcpServer(clientOf(caller.tenant), version, async (scope) => {
      requireScope(caller, scope);
      if (scope === 'write') await access.requireRoom(caller);
    });
    const transport = new WebStandardStreamableHTTPServerTransport({});
    await server.connect(transport);
    // A tool that waits stops waiting with its caller.
    context.req.raw.signal.addEventListener('abort', () => void server.close());
    return transport.handleRequest(context.req.raw, { parsedBody });
  });
  // There is no session, so nothing to listen to or to end.
  app.all('/', (context) => context.body(null, 405, { allow: 'POST' }));
  return app;
}
