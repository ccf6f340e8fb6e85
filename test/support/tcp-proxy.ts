import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A way to a server that a test can break. */
export interface TcpProxy {
  /** `host:port` */
  readonly address: string;
  /** The target's URL by way of the proxy. */
  url(target: string): string;
  /** Connections that are open now. */
  connections(): number;
  /** Ends every connection with a reset; a new one is refused, because nobody listens. */
  refuse(): Promise<void>;
  /** Ends every connection with a reset; a new one is taken and reset. */
  reset(): Promise<void>;
  /** No byte passes any more, and nobody is told. Connections that were open then stay silent for good, as behind a firewall that forgot them. */
  blackHole(): Promise<void>;
  /** No byte passes until the next `mend`, then those that waited do: a network that loses packets for a while. */
  stall(): Promise<void>;
  /** New connections pass again. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

type Fault = 'none' | 'refused' | 'reset' | 'black hole' | 'stalled';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  lost: boolean;
}

/** @param target `host:port` or a URL with both. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(target.includes('://') ? target : `tcp://${target}`);
  const pairs = new Set<Pair>();
  let fault: Fault = 'none';
  let server = listener();

  function listener(): Server {
    return createServer((client) => {
      if (fault === 'reset') {
        client.resetAndDestroy();
        return;
      }
      const pair: Pair = { client, upstream: connect(Number(targetPort), hostname), lost: fault === 'black hole' };
      pairs.add(pair);
      forward(pair, client, pair.upstream);
      forward(pair, pair.upstream, client);
      if (fault === 'stalled') pause(pair);
    });
  }

  function forward(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (!pair.lost && !to.write(chunk)) from.pause();
    });
    to.on('drain', () => fault !== 'stalled' && from.resume());
    from.on('error', () => to.destroy());
    from.on('close', () => {
      pairs.delete(pair);
      to.destroy();
    });
  }

  function pause({ client, upstream }: Pair): void {
    client.pause();
    upstream.pause();
  }

  function resetAll(): void {
    for (const { client, upstream } of pairs) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  async function listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  }

  async function stopListening(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    resetAll();
    await closed;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    url(original) {
      const url = new URL(original);
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href.replace(/\/$/u, '');
    },
    connections: () => pairs.size,
    async refuse() {
      fault = 'refused';
      await stopListening();
    },
    async reset() {
      fault = 'reset';
      resetAll();
      return Promise.resolve();
    },
    async blackHole() {
      fault = 'black hole';
      for (const pair of pairs) pair.lost = true;
      return Promise.resolve();
    },
    async stall() {
      fault = 'stalled';
      for (const pair of pairs) pause(pair);
      return Promise.resolve();
    },
    async mend() {
      const before = fault;
      fault = 'none';
      for (const { client, upstream } of pairs) {
        client.resume();
        upstream.resume();
      }
      if (before !== 'refused') return;
      server = listener();
      await listen(port);
    },
    async close() {
      if (fault === 'refused') return;
      await stopListening();
    },
  };
}
