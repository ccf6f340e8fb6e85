import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';

/** The part of postgres.js's options that says where to connect; several hosts are tried in turn. */
interface ServerAddress {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

/**
 * Sockets for postgres.js that end when the server keeps silent for so long after it was asked something. A network that
 * drops packets (a firewall that forgot the connection, a machine that is gone) never tells: the kernel goes on sending
 * again for a quarter of an hour, while each query waits and takes a connection of the pool with it. What waited fails as an
 * outage, and later queries make new connections. Under TLS the bytes are not seen, and the kernel's limit counts.
 */
export function socketsWithSilenceLimit(silenceLimitMilliseconds: number): (address: ServerAddress) => Socket {
  let connections = 0;
  return ({ host, port, path }) => {
    const place = connections % host.length;
    connections += 1;
    const name = host[place] ?? 'localhost';
    const socket = path ? connect(path) : connect(port[place] ?? 5_432, name);
    // Read by postgres.js for the name that the server's certificate must carry.
    if (isIP(name) === 0) Object.assign(socket, { host: name });
    endWhenSilent(socket, silenceLimitMilliseconds);
    return socket;
  };
}

function endWhenSilent(socket: Socket, limitMilliseconds: number): void {
  let timer: NodeJS.Timeout | undefined;
  const answered = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const write = socket.write.bind(socket);
  Object.assign(socket, {
    write(...written: Parameters<typeof write>): boolean {
      timer ??= setTimeout(() => socket.destroy(silent()), limitMilliseconds);
      return write(...written);
    },
  });
  // Not by a listener for `data`: the first one makes the stream flow before postgres.js listens.
  const push = socket.push.bind(socket);
  socket.push = (...pushed: Parameters<typeof push>) => {
    answered();
    return push(...pushed);
  };
  socket.once('close', answered);
}

function silent(): Error {
  return Object.assign(new Error('Postgres does not answer'), { code: 'ETIMEDOUT' });
}
