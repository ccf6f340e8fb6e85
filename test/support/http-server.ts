import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

/** One request as a test server received it. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed JSON of the body; `undefined` when it is none. */
  readonly body: unknown;
}

/** A server of one test: answers as told and remembers what it was asked. */
export interface HttpServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves when the client has closed the connection of the n-th request, from 0. */
  disconnected(request: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on a free port; `answer` is called for each request, in order of arrival. */
export async function startHttpServer(
  answer: (request: ReceivedRequest, response: ServerResponse, position: number) => void,
): Promise<HttpServer> {
  const requests: ReceivedRequest[] = [];
  const closings: PromiseWithResolvers[] = [];
  const closing = (position: number) => (closings[position] ??= withResolvers());
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const request = { path: incoming.url ?? '', headers: incoming.headers, text, body: parsed(text) };
      const position = requests.push(request) - 1;
      response.on('close', () => closing(position).resolve());
      answer(request, response, position);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    disconnected: (request) => closing(request).promise,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Answers with a status and a body: JSON for an object, else the text as it is. */
export function respond(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Begins a stream of server-sent events; the connection stays open. */
export function beginStream(response: ServerResponse, events: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  // Without an event the headers would wait for the first byte.
  response.flushHeaders();
  for (const event of events) response.write(serverSentEvent(event));
}

/** A whole stream. Chat Completions ends its streams with `[DONE]`. */
export function stream(response: ServerResponse, events: readonly unknown[], done = false): void {
  beginStream(response, events);
  response.end(done ? 'data: [DONE]\n\n' : '');
}

function serverSentEvent(event: unknown): string {
  const type = typeof event === 'object' && event !== null && 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${type}data: ${JSON.stringify(event)}\n\n`;
}
