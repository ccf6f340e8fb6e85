import { Hono } from 'hono';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import type { Endpoint } from '../client/api/endpoint.ts';
import { ENDPOINTS } from '../client/api/endpoints.ts';
import type { EndpointName } from '../client/api/endpoints.ts';
import type { Holdfast } from '../client/holdfast.ts';
import { requireScope } from './access.ts';
import type { Access, Caller } from './access.ts';
import type { Configured } from './configured.ts';
import type { EventStreams } from './events.ts';
import type { ServerLimits } from './limits.ts';
import { mcpRoutes } from './mcp-routes.ts';
import { openApiDocument } from './openapi.ts';
import { addPages } from './pages.ts';
import { problemResponse, RequestError } from './problem.ts';
import { REFERENCE_STYLE, referencePage } from './reference.ts';
import { refuseOtherOrigins } from './same-origin.ts';
import { serveEndpoint } from './serve-endpoint.ts';
import { responsesRoutes } from './responses/routes.ts';
import { serveBytes, serveExport, serveImport } from './transfer.ts';

export interface ApplicationParts {
  readonly access: Access;
  /** It listens on its own machine only, and without keys. */
  readonly isLocal: boolean;
  readonly clientOf: (tenant: string) => Holdfast;
  readonly configured: Configured;
  readonly streams: EventStreams;
  readonly limits: ServerLimits;
  readonly version: string;
  /** Told of faults, never of refusals. */
  readonly log: (error: unknown) => void;
  /** Throws when Postgres does not answer. */
  readonly checkReady: () => Promise<unknown>;
}

type Authenticated = { Variables: { caller: Caller } };

/** The server's routes. */
export function createApplication(parts: ApplicationParts): Hono {
  const { log } = parts;
  const app = new Hono();
  app.onError((error) => problemResponse(error, log));
  app.notFound((context) =>
    problemResponse(new RequestError('route_not_found', `There is no ${context.req.method} route at this path.`), log),
  );
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
      xFrameOptions: 'DENY',
    }),
  );
  app.get('/healthz', (context) => context.text('ok'));
  app.get('/readyz', async (context) => {
    await parts.checkReady();
    return context.text('ok');
  });
  if (parts.isLocal) app.use(refuseOtherOrigins);
  addReference(app, parts.version);
  addPages(app);
  app.route('/', parts.access.login);
  app.route('/mcp', mcpRoutes(parts));
  app.route('/v1', responsesRoutes(parts));
  app.route('/v1', apiRoutes(parts));
  return app;
}

function addReference(app: Hono, version: string): void {
  const document = openApiDocument(version);
  app.get('/openapi.json', (context) => context.json(document));
  app.get('/reference', (context) => context.html(referencePage(document)));
  app.get('/reference.css', (context) => context.body(REFERENCE_STYLE, 200, { 'content-type': 'text/css' }));
}

function apiRoutes({ access, clientOf, configured, streams, limits }: ApplicationParts): Hono<Authenticated> {
  const api = new Hono<Authenticated>();
  api.use(async (context, next) => {
    context.set('caller', await access.callerOf(context));
    await next();
  });
  addTransfer(api, clientOf);
  api.use(
    bodyLimit({
      maxSize: limits.bodyBytes,
      onError: () => {
        throw new RequestError('body_too_large', `A body has at most ${limits.bodyBytes} bytes.`);
      },
    }),
  );
  api.get('/conversations/:conversationId/events', (context) => {
    const caller = context.get('caller');
    requireScope(caller, 'read');
    return streams.serve(context, clientOf(caller.tenant), caller);
  });
  api.post('/conversations/import', (context) => {
    const caller = context.get('caller');
    requireScope(caller, 'write');
    return serveImport(context, clientOf(caller.tenant));
  });
  for (const [path, items] of Object.entries(configured)) {
    api.get(`/${path}`, (context) => {
      requireScope(context.get('caller'), 'read');
      return context.json({ items });
    });
  }
  for (const name of endpointNames()) {
    const { method, path, scope, begins }: Endpoint = ENDPOINTS[name];
    api.on(method.toUpperCase(), path.replaceAll(/\{(\w+)\}/gu, ':$1'), async (context) => {
      const caller = context.get('caller');
      requireScope(caller, scope);
      if (begins === true) await access.requireRoom(caller);
      return serveEndpoint(context, name, { client: clientOf(caller.tenant), caller });
    });
  }
  return api;
}

/** What is no JSON: whole conversations as lines, originals as bytes. */
function addTransfer(api: Hono<Authenticated>, clientOf: ApplicationParts['clientOf']): void {
  const clientFor = (context: Context<Authenticated>): Holdfast => {
    const caller = context.get('caller');
    requireScope(caller, 'read');
    return clientOf(caller.tenant);
  };
  api.get('/conversations/:conversationId/export', (context) => serveExport(context, clientFor(context)));
  api.get('/entries/:entryId/content', (context) => serveBytes(context, clientFor(context)));
}

function endpointNames(): EndpointName[] {
  return Object.keys(ENDPOINTS).filter((name): name is EndpointName => name in ENDPOINTS);
}
