import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from './database.ts';

export interface ListenOptions {
  readonly channel: string;
  readonly receive: (payload: string) => unknown;
  /** Each time that listening has begun, also on a new connection: what came before was not heard. */
  readonly begun?: () => void;
  /** Told when it cannot begin, or when all is closed. During an outage nothing is told: the driver goes on trying. */
  readonly failed: (error: unknown) => void;
}

export interface Listening {
  end(): void;
}

export interface Listeners {
  /**
   * Neither the beginning nor the end is waited for: during an outage the driver tries for ever, in silence, and whoever
   * listens must be able to tell of the outage.
   */
  listen(options: ListenOptions): Listening;
  /** Ends all that listen, each of which is told. To be called before the pool ends. */
  close(): Promise<void>;
}

/** Milliseconds for which `close` waits: in an outage nothing answers, and there is no connection to leave behind. */
const CLOSING_MILLISECONDS = 1_000;

export function createListeners(database: Database): Listeners {
  const open = new Set<(error: Error) => void>();
  const ending = new Set<Promise<unknown>>();
  let closed = false;
  return {
    listen({ channel, receive, begun, failed }) {
      if (closed) {
        failed(poolEnded());
        return { end: () => undefined };
      }
      let ended = false;
      const starting = database.listen(
        channel,
        (payload) => ended || receive(payload),
        () => ended || begun?.(),
      );
      starting.catch((error: unknown) => ended || failed(error));
      const end = (): void => {
        if (ended) return;
        ended = true;
        open.delete(close);
        // A connection that is lost meanwhile listens no more.
        const stopped = starting.then((started) => started.unlisten()).catch(() => undefined);
        ending.add(stopped);
        void stopped.finally(() => ending.delete(stopped));
      };
      const close = (error: Error): void => {
        end();
        failed(error);
      };
      open.add(close);
      return { end };
    },
    async close() {
      // postgres.js opens a connection for listeners that come after the end of the pool, which nothing would close.
      closed = true;
      for (const close of open) close(poolEnded());
      const waiting = new AbortController();
      const late = delay(CLOSING_MILLISECONDS, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([Promise.all(ending), late]);
      waiting.abort();
    },
  };
}

/** As the driver says it of a query. */
function poolEnded(): Error {
  return Object.assign(new Error('the pool of connections was ended'), { code: 'CONNECTION_ENDED' });
}
