import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Endpoint } from '../client/api/endpoint.ts';
import { ENDPOINTS } from '../client/api/endpoints.ts';
import type { EndpointName } from '../client/api/endpoints.ts';
import type { Holdfast } from '../client/holdfast.ts';
import type { Access } from './access.ts';
import { admit } from './admission.ts';
import type { Admitted } from './admission.ts';
import { argumentReader } from './arguments.ts';
import type { Configured, RequireAgent } from './configured.ts';
import type { EventStreams } from './events.ts';
import type { ServerLimits } from './limits.ts';
import { mcpRoutes } from './mcp-routes.ts';
import { openApiDocument } from './openapi.ts';
import { OTHER_ROUTES } from './other-routes.ts';
import type { OtherRoute } from './other-routes.ts';
import { addPages } from './pages.ts';
import { problemResponse, RequestError } from './problem.ts';
import { REFERENCE_STYLE, referencePage } from './reference.ts';
import { refuseOtherOrigins } from './same-origin.ts';
import { endpointServer } from './serve-endpoint.ts';
import { responsesRoutes } from './responses/routes.ts';

export interface ApplicationParts {
  readonly access: Access;
  /** It listens on its own machine only, and without keys. */
  readonly isLocal: boolean;
  readonly clientOf: (tenant: string) => Holdfast;
  readonly configured: Configured;
  readonly requireAgent: RequireAgent;
  readonly streams: EventStreams;
  readonly limits: ServerLimits;
  readonly version: string;
  /** Told of faults, never of refusals. */
  readonly log: (error: unknown) => void;
  /** Throws when Postgres does not answer. */
  readonly checkReady: () => Promise<unknown>;
}

/** The server's routes. */
export function createApplication(parts: ApplicationParts): Hono {
  const { log } = parts;
  const app = new Hono();
  app.onError((error) => problemResponse(error, log));
  app.notFound(({ req }) => {
    const path = req.path.length > 100 ? `${req.path.slice(0, 100)}…` : req.path;
    return problemResponse(new RequestError('route_not_found', `There is no route ${req.method} ${path}.`), log);
  });
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        // Forms are sent by script alone.
        formAction: ["'none'"],
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

function apiRoutes(parts: ApplicationParts): Hono<Admitted> {
  const api = new Hono<Admitted>();
  api.use(admit(parts));
  for (const route of Object.values<OtherRoute>(OTHER_ROUTES)) {
    const argumentsIn = argumentReader(route);
    api.on(route.method.toUpperCase(), honoPath(route.path), async (context) => {
      const client = context.var.clientFor(route.scope);
      const given = await argumentsIn(context);
      return route.serve({ ...parts, context, client }, given);
    });
  }
  for (const name of endpointNames()) {
    const { method, path, scope }: Endpoint = ENDPOINTS[name];
    const serve = endpointServer(name);
    api.on(method.toUpperCase(), honoPath(path), (context) => {
      const { caller, clientFor } = context.var;
      return serve(context, { ...parts, client: clientFor(scope), caller });
    });
  }
  return api;
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/gu, ':$1');
}

function endpointNames(): EndpointName[] {
  return Object.keys(ENDPOINTS).filter((name): name is EndpointName => name in ENDPOINTS);
}
