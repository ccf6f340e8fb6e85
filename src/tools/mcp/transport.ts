import { request as requestHttp } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { ToolError } from '../errors.ts';
import { sendSignal } from '../process/end-processes.ts';
import type { ToolEffect } from '../tool.ts';

/** An MCP server as configured, with what it needs at hand. */
export interface McpServer {
  /** Letters, digits and single `_` or `-`: the beginning of its tools' names. */
  readonly name: string;
  readonly address: McpProgram | McpAddress;
  /** By tool as the server names it, in place of what its hints say. */
  readonly effects: ReadonlyMap<string, ToolEffect>;
  /** Longest duration of one call, in milliseconds. */
  readonly timeoutMilliseconds: number;
}

/** A program that is started and spoken to over its standard input and output. */
interface McpProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Nothing else of the worker's environment is passed on but what the SDK always does: PATH, HOME, USER, LOGNAME, SHELL and TERM. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path. */
  readonly directory: string;
}

/** A server that is spoken to over streamable HTTP. */
interface McpAddress {
  readonly url: string;
  /** Whether the name in `url` may lead to this machine or a private network. */
  readonly mayBePrivate: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Read for each request, so that a key is changed without a restart. `null`: the server wants none. */
  readonly key: (() => Promise<string>) | null;
}

/** Largest message of a server, in bytes. The SDK copies what it has with each piece that comes: more would block the worker. */
const LARGEST_MESSAGE = 10 * 1024 * 1024;

/** Characters of what a program wrote to its standard error that an error shows. */
const LOG_TAIL = 1_000;

interface ServerTransport {
  readonly transport: Transport;
  /** The end of what the program wrote to its standard error; it says why a program does not start. */
  readonly logTail: () => string;
  /** Ends at once a program that would go on to write. */
  readonly kill: () => void;
}

export function createTransport({ address, name }: McpServer): ServerTransport {
  return 'command' in address ? programTransport(address) : httpTransport(name, address);
}

/** Says that a server sent more than is read. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof Error && /exceeded maximum size|more than 10 MiB/.test(error.message);
}

function programTransport({ command, args, environment, directory }: McpProgram): ServerTransport {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...environment },
    cwd: directory,
    stderr: 'pipe',
    maxBufferSize: LARGEST_MESSAGE,
  });
  let tail = '';
  // Read to the end: a program whose log nobody reads stops when the pipe is full.
  transport.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-LOG_TAIL);
  });
  const kill = (): void => {
    if (transport.pid !== null) sendSignal(transport.pid, 'SIGKILL');
  };
  return { transport, logTail: () => tail.trim(), kill };
}

function httpTransport(name: string, { url, mayBePrivate, headers, key }: McpAddress): ServerTransport {
  const send = agentFetch(url, mayBePrivate);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    // A redirect to another origin is an error: only the address that the configuration names is called.
    redirectPolicy: 'same-origin',
    requestInit: { headers: { ...headers } },
    fetch: async (address, init) => {
      const all = new Headers(init?.headers);
      // What a server says unasked has no reader; a broken answer is read on.
      if (init?.method === 'GET' && !all.has('last-event-id')) return new Response(null, { status: 405 });
      if (key !== null) all.set('authorization', `Bearer ${await key()}`);
      return bounded(name, await send(address, { ...init, headers: all }));
    },
  });
  return { transport, logTail: () => '', kill: () => undefined };
}

/** `fetch` over an agent that judges the address as the connection is made, so that no name leads elsewhere afterwards. */
function agentFetch(url: string, mayBePrivate: boolean): FetchLike {
  const isSecure = url.startsWith('https:');
  const options = { keepAlive: true, allowPrivateIPAddress: mayBePrivate, allowMetaIPAddress: mayBePrivate };
  const agent = isSecure ? new RequestFilteringHttpsAgent(options) : new RequestFilteringHttpAgent(options);
  return async (address, { method = 'GET', headers, body, signal } = {}) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (isSecure ? requestHttps : requestHttp)(address, {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        agent,
        ...(signal != null && { signal }),
      });
      // What fails after the answer began, fails its body.
      sent.once('response', resolve).on('error', reject).end(body);
    });
    const { statusCode: status = 0, headersDistinct } = answer;
    const answered = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const isEmpty = [204, 205, 304].includes(status);
    if (isEmpty) answer.resume();
    const stream = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
    return new Response(stream, { status, headers: answered });
  };
}

function bounded(name: string, response: Response): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= LARGEST_MESSAGE) controller.enqueue(chunk);
      else controller.error(new ToolError('mcp_result_invalid', `The MCP server ${name} sent more than 10 MiB.`));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(count), { status, statusText, headers });
}
