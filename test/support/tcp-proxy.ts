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
  /**
   * Loses the next answer to something that is sent with this text: the target has done what it was asked, and whoever asked gets a reset
   * instead of the answer, or nothing for good.
   * @param passing so many of them are answered before
   */
  loseAnswerTo(text: string, instead?: 'reset' | 'silence', passing?: number): void;
  /** Answers that were lost since the last call of `loseAnswerTo`. */
  lostAnswers(): number;
  /** New connections pass again. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

type Fault = 'none' | 'refused' | 'reset' | 'black hole' | 'stalled';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  lost: boolean;
  /** The next answer is the one to be lost. */
  isAsked: boolean;
}

interface AnswerToLose {
  readonly text: string;
  readonly instead: 'reset' | 'silence';
  passing: number;
  lost: number;
}

/** @param target `host:port` or a URL with both. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(target.includes('://') ? target : `tcp://${target}`);
  const pairs = new Set<Pair>();
  let fault: Fault = 'none';
  let loss: AnswerToLose | null = null;
  let server = listener();

  function listener(): Server {
    return createServer((client) => {
      if (fault === 'reset') {
        client.resetAndDestroy();
        return;
      }
      const pair: Pair = {
        client,
        upstream: connect(Number(targetPort), hostname),
        lost: fault === 'black hole',
        isAsked: false,
      };
      pairs.add(pair);
      client.on('data', (sent) => noteAsked(pair, sent));
      pair.upstream.on('data', () => loseAnswer(pair));
      forward(pair, client, pair.upstream);
      forward(pair, pair.upstream, client);
      if (fault === 'stalled') pause(pair);
    });
  }

  function noteAsked(pair: Pair, sent: Buffer): void {
    if (loss === null || loss.lost > 0 || !sent.includes(loss.text)) return;
    if (loss.passing > 0) loss.passing -= 1;
    else pair.isAsked = true;
  }

  /** Before the answer is forwarded: listeners are called in their order. */
  function loseAnswer(pair: Pair): void {
    if (!pair.isAsked || loss === null) return;
    pair.isAsked = false;
    pair.lost = true;
    loss.lost += 1;
    if (loss.instead === 'reset') pair.client.resetAndDestroy();
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
    loseAnswerTo(text, instead = 'reset', passing = 0) {
      loss = { text, instead, passing, lost: 0 };
    },
    lostAnswers: () => loss?.lost ?? 0,
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
