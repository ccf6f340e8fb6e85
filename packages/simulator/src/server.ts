import type { Server, ServerResponse } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import { ZodError } from 'zod';
import { measurePrompt, PrefixCache } from './core/prefix-cache.ts';
import { RequestOccurrences } from './core/random.ts';
import type { Protocol, SimulatorRequest } from './core/request.ts';
import { TokenCounter } from './core/token-counter.ts';
import { invalidRequest, vendorError, VendorError } from './core/vendor-error.ts';
import { FaultStore } from './faults/fault-store.ts';
import { answerCall, sendRefusal, type SimulatorState } from './http/answer-request.ts';
import { controlRoutes } from './http/control.ts';
import { sendBody } from './http/delivery.ts';
import { embeddingRoutes } from './http/embeddings.ts';
import { modelRoutes } from './http/models.ts';
import { notFound } from './http/refusals.ts';
import { RequestLog } from './http/request-log.ts';
import { completeOptions, type SimulatorOptions } from './options.ts';
import { anthropicRenderer } from './protocols/anthropic-answer.ts';
import { parseAnthropicRequest } from './protocols/anthropic-request.ts';
import { chatRenderer } from './protocols/chat-answer.ts';
import { parseChatRequest } from './protocols/chat-request.ts';
import type { ProtocolRenderer } from './protocols/rendering.ts';
import { responsesRenderer } from './protocols/responses-answer.ts';
import { parseResponsesRequest } from './protocols/responses-request.ts';

/** A simulator that listens. */
export interface Simulator {
  /** `http://host:port`; the Anthropic SDK takes it as base URL, the OpenAI SDK with `/v1` behind it. */
  readonly url: string;
  readonly port: number;
  /** Stops listening and drops every open connection; asked again, it does nothing. */
  close(): Promise<void>;
}

interface Endpoint {
  readonly protocol: Protocol;
  readonly parse: (body: unknown) => SimulatorRequest;
  readonly renderer: ProtocolRenderer;
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/v1/messages': {
    protocol: 'anthropic',
    parse: (body) => parseAnthropicRequest(body, 'answer'),
    renderer: anthropicRenderer,
  },
  '/v1/chat/completions': { protocol: 'chat', parse: parseChatRequest, renderer: chatRenderer },
  '/v1/responses': { protocol: 'responses', parse: parseResponsesRequest, renderer: responsesRenderer },
};

/**
 * Starts the simulator and resolves once it listens.
 * @throws RangeError for an option out of range; the system's error (`EADDRINUSE`, `EACCES`) for a port it cannot have
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const complete = completeOptions(options);
  const state: SimulatorState = {
    options: complete,
    counter: new TokenCounter(),
    prefixes: new PrefixCache(),
    occurrences: new RequestOccurrences(),
    faults: new FaultStore(),
    log: new RequestLog(),
  };
  const server = createAdaptorServer({ fetch: createApplication(state).fetch });
  if (!('closeAllConnections' in server)) throw new TypeError('the simulator needs an HTTP/1.1 server');
  await listen(server, complete);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the simulator does not listen on a port');
  const { port } = address;
  const host = complete.host.includes(':') ? `[${complete.host}]` : complete.host;
  let closed: Promise<void> | undefined;
  return { url: `http://${host}:${port}`, port, close: () => (closed ??= close(server)) };
}

function listen(server: Server, { port, host }: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}

type Bindings = { Bindings: HttpBindings };

function createApplication(state: SimulatorState): Hono<Bindings> {
  const app = new Hono<Bindings>();
  for (const [path, endpoint] of Object.entries(ENDPOINTS))
    app.post(path, (context) => serveEndpoint(state, endpoint, context));
  app.post('/v1/messages/count_tokens', (context) => countTokens(state, COUNTS.anthropic, context));
  app.post('/v1/responses/input_tokens', (context) => countTokens(state, COUNTS.responses, context));
  app.route('/v1/models', modelRoutes());
  app.route('/v1/embeddings', embeddingRoutes());
  app.route('/control', controlRoutes(state.faults, state.log));
  app.get('/', (context) =>
    context.text('Holdfast simulator: a model server that speaks the Anthropic and OpenAI protocols.\n'),
  );
  app.notFound((context) => context.json(notFound(context.req.path), 404));
  return app;
}

async function serveEndpoint(state: SimulatorState, endpoint: Endpoint, context: Context<Bindings>): Promise<Response> {
  const { outgoing } = context.env;
  await guard(endpoint.protocol, outgoing, async () => {
    checkKey(endpoint.protocol, context);
    const rawBody = await context.req.text();
    const body = parseJson(endpoint.protocol, rawBody);
    const faultHeader = context.req.header('x-simulator-fault');
    await answerCall(state, {
      request: endpoint.parse(body),
      rawBody,
      body,
      faultHeader,
      renderer: endpoint.renderer,
      outgoing,
    });
  });
  return RESPONSE_ALREADY_SENT;
}

/** Endpoints that count an input without answering it. */
interface CountEndpoint {
  readonly protocol: Protocol;
  readonly parse: (body: unknown) => SimulatorRequest;
  /** What the vendor puts beside the number. */
  readonly shell: object;
}

const COUNTS = {
  anthropic: { protocol: 'anthropic', parse: (body) => parseAnthropicRequest(body, 'count'), shell: {} },
  responses: { protocol: 'responses', parse: parseResponsesRequest, shell: { object: 'response.input_tokens' } },
} satisfies Record<string, CountEndpoint>;

async function countTokens(
  state: SimulatorState,
  { protocol, parse, shell }: CountEndpoint,
  context: Context<Bindings>,
): Promise<Response> {
  const { outgoing } = context.env;
  await guard(protocol, outgoing, async () => {
    checkKey(protocol, context);
    const request = parse(parseJson(protocol, await context.req.text()));
    const input = measurePrompt(request, state.counter).at(-1)?.tokens ?? 0;
    sendBody(outgoing, 200, { ...shell, input_tokens: input }, {});
  });
  return RESPONSE_ALREADY_SENT;
}

/** Turns what the parsing code throws into the vendor's answer; the simulator's own failures become a 500 that says so. */
async function guard(protocol: Protocol, outgoing: ServerResponse, serve: () => Promise<void>): Promise<void> {
  try {
    await serve();
  } catch (error) {
    if (outgoing.headersSent) outgoing.destroy();
    else sendRefusal(outgoing, undefined, toVendorError(protocol, error));
  }
}

function toVendorError(protocol: Protocol, error: unknown): VendorError {
  if (error instanceof VendorError) return error;
  if (error instanceof ZodError || error instanceof SyntaxError)
    return invalidRequest(protocol, `x-simulator-fault: ${error.message}`);
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return vendorError(protocol, { status: 500, message: `the simulator itself failed: ${message}` });
}

function parseJson(protocol: Protocol, rawBody: string): unknown {
  try {
    return JSON.parse(rawBody) as unknown;
  } catch {
    throw invalidRequest(protocol, 'We could not parse the JSON body of your request.');
  }
}

/** Any key is good, also none; one that begins with `invalid` is refused as a vendor refuses a wrong one. */
function checkKey(protocol: Protocol, context: Context<Bindings>): void {
  const key = context.req.header('x-api-key') ?? context.req.header('authorization')?.replace(/^Bearer /, '');
  if (key?.startsWith('invalid') !== true) return;
  const message = protocol === 'anthropic' ? 'invalid x-api-key' : 'Incorrect API key provided.';
  throw vendorError(protocol, { status: 401, message, code: 'invalid_api_key' });
}
