import type { Database } from './database.ts';

export interface ListenOptions {
  readonly channel: string;
  readonly receive: (payload: string) => unknown;
  /** Each time that listening has begun, also on a new connection: what came before was not heard. */
  readonly begun?: () => void;
  /** Told when it cannot begin. During an outage nothing is told: the driver goes on trying. */
  readonly failed: (error: unknown) => void;
}

export interface Listening {
  end(): void;
}

/**
 * Listens on a channel, on a connection that all listeners of the pool share. Neither the beginning nor the end is waited for:
 * during an outage the driver tries for ever, in silence, and whoever listens must be able to tell of the outage.
 */
export function listen(database: Database, { channel, receive, begun, failed }: ListenOptions): Listening {
  let ended = false;
  const starting = database.listen(
    channel,
    (payload) => ended || receive(payload),
    () => ended || begun?.(),
  );
  starting.catch((error: unknown) => ended || failed(error));
  return {
    end() {
      ended = true;
      // A connection that is lost meanwhile listens no more.
      starting.then((started) => started.unlisten()).catch(() => undefined);
    },
  };
}
