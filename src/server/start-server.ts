import type { Server, ServerOptions as HttpServerOptions } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { z } from 'zod';
import type { Holdfast } from '../client/holdfast.ts';
import type { Access } from './access.ts';
import { createApplication } from './application.ts';
import { agentCheck } from './configured.ts';
import type { Configured } from './configured.ts';
import { createEventStreams } from './events.ts';
import { serverLimits } from './limits.ts';
import type { ServerLimits } from './limits.ts';
import { isLoopback } from './same-origin.ts';

export interface ServerOptions {
  /** What a tenant's requests are served with; without keys all are of one tenant. */
  readonly clientOf: (tenant: string) => Holdfast;
  readonly access: Access;
  /** Whether a request needs a key. Default: false, and it listens on this machine only. */
  readonly needsKeys?: boolean;
  /** What the configuration offers. */
  readonly configured: Configured;
  /** Names of the agents that running workers have. Default: none is known. */
  readonly agentsOfWorkers?: () => Promise<readonly string[]>;
  /** Throws when Postgres does not answer. */
  readonly checkReady: () => Promise<unknown>;
  readonly version: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: a free one. */
  readonly port: number;
  readonly limits?: z.input<typeof serverLimits>;
  /** Told of faults of the server, never of refusals. */
  readonly log: (error: unknown) => void;
}

export interface RunningServer {
  /** `http://host:port`. */
  readonly url: string;
  readonly port: number;
  /** Ends event streams and stops listening. */
  close(): Promise<void>;
}

/** For requests that are being served as the server closes; the longest only waits, which end at once. */
const GRACE_MILLISECONDS = 5_000;
const IDLE_LOOK_MILLISECONDS = 20;

/** An address that this server does not listen on. */
export class ServerAddressError extends Error {
  override readonly name = 'ServerAddressError';
  readonly code = 'server_address_refused';
}

/**
 * Starts the HTTP server and resolves once it listens.
 * @throws ServerAddressError for an address beyond this machine; the system's error (`EADDRINUSE`, `EACCES`) for a port it cannot have
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', needsKeys = false, configured, agentsOfWorkers = async () => [], log } = options;
  if (!needsKeys && !isLoopback(host)) {
    throw new ServerAddressError(`${host} is refused: without keys the server listens on this machine only.`);
  }
  const limits = serverLimits.parse(options.limits ?? {});
  const streams = createEventStreams(limits, options.access, log);
  const requireAgent = agentCheck(configured, agentsOfWorkers);
  const application = createApplication({ ...options, isLocal: !needsKeys, requireAgent, streams, limits });
  const server = createAdaptorServer({ fetch: application.fetch, serverOptions: timeLimits(limits) });
  if (!('closeAllConnections' in server)) throw new TypeError('the server needs HTTP/1.1');
  const port = await listen(server, options.port, host);
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shown}:${port}`,
    port,
    async close() {
      await streams.close();
      await closeGently(server);
    },
  };
}

/** Requests that are being served get their answers: one that stored a message and is cut off may be sent again. */
async function closeGently(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MILLISECONDS);
  const late = setTimeout(() => server.closeAllConnections(), GRACE_MILLISECONDS);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

/** How long Node waits for a request, and how often it looks. Its headers are small. */
function timeLimits({ requestSeconds }: ServerLimits): HttpServerOptions {
  const requestTimeout = requestSeconds * 1_000;
  const longestLook = 5_000;
  return {
    requestTimeout,
    headersTimeout: Math.min(requestTimeout, 30_000),
    connectionsCheckingInterval: Math.min(requestTimeout / 2, longestLook),
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address.port);
      else reject(new TypeError('the server does not listen on a port'));
    });
  });
}
