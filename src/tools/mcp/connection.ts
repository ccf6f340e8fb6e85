import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { ClientRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { ToolError } from '../errors.ts';
import { createTransport, isTooLarge } from './transport.ts';
import type { McpServer } from './transport.ts';

/** Milliseconds that a server has to start and to list its tools. */
export const START_MILLISECONDS = 30_000;

const FIRST_DELAY_MILLISECONDS = 200;
const LONGEST_DELAY_MILLISECONDS = 30_000;

/** One process, or one HTTP session, that all calls of a worker share. */
export interface McpConnection {
  /**
   * Asks the server, which is started first where it is not running. After failures it is started later and later.
   * @throws ToolError, or the reason of the signal
   */
  request<Schema extends z.ZodType>(
    request: ClientRequest,
    result: Schema,
    options: RequestOptions & { readonly signal: AbortSignal },
  ): Promise<z.output<Schema>>;
  /** Ends the server. */
  close(): Promise<void>;
}

interface Link {
  readonly client: Client;
  /** Aborted when the server ended, or cannot be listened to any more. */
  readonly ended: AbortSignal;
}

export function openMcpConnection(server: McpServer): McpConnection {
  let link: Promise<Link> | null = null;
  let failures = 0;
  let startsAt = 0;

  const dropped = (of: Promise<Link>): void => {
    if (link !== of) return;
    link = null;
    startsAt = performance.now() + Math.min(FIRST_DELAY_MILLISECONDS * 2 ** failures, LONGEST_DELAY_MILLISECONDS);
    failures += 1;
  };

  const connect = (): Promise<Link> => {
    const connecting: Promise<Link> = delay(Math.max(0, startsAt - performance.now())).then(() =>
      startClient(server, () => dropped(connecting)),
    );
    connecting.catch(() => dropped(connecting));
    return connecting;
  };

  return {
    async request(request, result, options) {
      const { signal } = options;
      for (let isRepeated = false; ; isRepeated = true) {
        link ??= connect();
        const used = link;
        const { client, ended } = await unlessAborted(used, signal);
        try {
          const answer = await client.request(request, result, {
            ...options,
            signal: AbortSignal.any([signal, ended]),
          });
          failures = 0;
          return answer;
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          const isForgotten = isForgottenSession(error);
          if (isForgotten) dropped(used);
          if (!isForgotten || isRepeated) throw callFailure(server.name, error, ended);
        }
      }
    },
    async close() {
      const open = await link?.catch(() => null);
      await open?.client.close();
    },
  };
}

/** The server was started anew and does not know the session: it did nothing. Many say so by 400 instead of the protocol's 404. */
function isForgottenSession(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false;
  return error.code === 404 || (error.code === 400 && /session/iu.test(error.message));
}

async function startClient(server: McpServer, onEnd: () => void): Promise<Link> {
  const { transport, logTail, kill } = createTransport(server);
  const client = new Client({ name: 'holdfast', version: '1' }, { capabilities: {} });
  const ended = new AbortController();
  const end = (reason: string): void => {
    ended.abort(new Error(reason));
    onEnd();
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  client.onclose = () => end('it ended');
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  client.onerror = (error) => {
    if (isTooLarge(error)) {
      end('it sent more than 10 MiB');
      kill();
    } else if (error.message.startsWith('SSE stream disconnected')) {
      end('the connection broke');
    }
  };
  client.fallbackRequestHandler = async ({ method }) => {
    throw new McpError(
      ErrorCode.MethodNotFound,
      `Holdfast refuses ${method}: a turn goes on without its user, and models are called by Holdfast alone. Ask for what is needed in the arguments of a tool.`,
    );
  };
  try {
    await client.connect(transport, { timeout: START_MILLISECONDS });
    return { client, ended: ended.signal };
  } catch (error) {
    await client.close();
    throw failure('mcp_unavailable', server.name, error, logTail());
  }
}

async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  return Promise.race([promise, once(signal, 'abort').then(() => Promise.reject(signal.reason))]);
}

const CONNECTION_CLOSED: number = ErrorCode.ConnectionClosed;

const WORDS = {
  mcp_unavailable: (server: string, reason: string) =>
    `The MCP server ${server} could not be reached, so the call did not run: ${reason}.`,
  mcp_refused: (server: string, reason: string) => `The MCP server ${server} refused the call: ${reason}`,
  mcp_result_invalid: (server: string, reason: string) =>
    `The MCP server ${server} ran the call, and its result cannot be read: ${reason}`,
  outcome_unknown: (server: string, reason: string) =>
    `The MCP server ${server} was lost during the call (${reason}): it may have taken effect or not. Check before you make it again.`,
} as const;

/** @param log the end of what the server wrote to its standard error */
function failure(code: keyof typeof WORDS, server: string, cause: unknown, log = ''): ToolError {
  const said = log === '' ? '' : ` It wrote: ${log}`;
  return new ToolError(code, `${WORDS[code](server, reasonOf(cause))}${said}`, { cause });
}

/** @param ended the server's: why the connection is gone, when it is */
export function callFailure(server: string, error: unknown, ended: AbortSignal): ToolError {
  if (error instanceof ToolError && error.code !== 'mcp_result_invalid') return error;
  if (ended.aborted) return failure('outcome_unknown', server, ended.reason);
  return failure(codeOf(error), server, error);
}

function codeOf(error: unknown): keyof typeof WORDS {
  if (isTooLarge(error) || error instanceof z.core.$ZodError || error instanceof SyntaxError)
    return 'mcp_result_invalid';
  if (error instanceof McpError) return error.code === CONNECTION_CLOSED ? 'outcome_unknown' : 'mcp_refused';
  const status = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) return 'mcp_refused';
  return isUnsent(error) || isPrivate(error) ? 'mcp_unavailable' : 'outcome_unknown';
}

function reasonOf(error: unknown): string {
  if (error instanceof z.core.$ZodError) return z.prettifyError(error).slice(0, 300);
  if (isPrivate(error)) return 'its name leads to a private address, which `privateAddress: true` allows';
  const code = networkCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === '' ? message : `${message} (${code})`;
}

/** Its message quotes the address. */
function isPrivate(error: unknown): boolean {
  return error instanceof Error && /^DNS lookup .* is not allowed/u.test(error.message);
}

/** There was no connection yet, or its certificate was refused. */
function isUnsent(error: unknown): boolean {
  if (/CERT|UNABLE_TO_VERIFY/u.test(networkCode(error))) return true;
  // A name with several addresses fails with the errors of all.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'syscall' in first && /^(?:connect|getaddrinfo)$/u.test(String(first.syscall));
}

/** `ECONNREFUSED` …; empty when the network was not the reason. */
function networkCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
