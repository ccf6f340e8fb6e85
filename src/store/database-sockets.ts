import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';

/** The part of postgres.js's options that says where to connect; several hosts are tried in turn. */
interface ServerAddress {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

/** The end of a `ReadyForQuery` message outside a transaction, which ends the start of a connection. */
const READY = Buffer.from('Z\0\0\0\u0005I', 'latin1');

/**
 * Sockets for postgres.js, with two repairs.
 *
 * An error ends an established connection like any other end: between the socket's events `error` and `close` postgres.js 3.4
 * still puts queries on the connection, and never settles them. Without the error it fails what waits at `close`, as
 * `CONNECTION_CLOSED`.
 *
 * A server that was asked something and keeps silent for `silenceLimitMilliseconds` is given up. A network that drops packets
 * (a firewall that forgot the connection, a machine that is gone) never tells: the kernel goes on sending again for a quarter
 * of an hour, while each query waits and takes a connection of the pool with it. Under TLS the bytes are not seen, and
 * the kernel's limit counts.
 */
export function databaseSockets(silenceLimitMilliseconds: number | null): (address: ServerAddress) => Socket {
  let connections = 0;
  return ({ host, port, path }) => {
    const place = connections % host.length;
    connections += 1;
    const name = host[place] ?? 'localhost';
    const socket = path ? connect(path) : connect(port[place] ?? 5_432, name);
    // Read by postgres.js for the name that the server's certificate must carry.
    if (isIP(name) === 0) Object.assign(socket, { host: name });
    const pushes: ((chunk: unknown) => void)[] = [endWithoutError(socket)];
    if (silenceLimitMilliseconds !== null) pushes.push(endWhenSilent(socket, silenceLimitMilliseconds));
    // Not by a listener for `data`: the first one makes the stream flow before postgres.js listens.
    const push = socket.push.bind(socket);
    socket.push = (...pushed: Parameters<typeof push>) => {
      for (const each of pushes) each(pushed[0]);
      return push(...pushed);
    };
    return socket;
  };
}

function endWithoutError(socket: Socket): (chunk: unknown) => void {
  const destroy = socket.destroy.bind(socket);
  let isEstablished = false;
  socket.destroy = (error) => destroy(isEstablished ? undefined : error);
  return (chunk) => {
    isEstablished ||= Buffer.isBuffer(chunk) && chunk.subarray(-READY.length).equals(READY);
  };
}

function endWhenSilent(socket: Socket, limitMilliseconds: number): (chunk: unknown) => void {
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
  socket.once('close', answered);
  return answered;
}

function silent(): Error {
  return Object.assign(new Error('Postgres does not answer'), { code: 'ETIMEDOUT' });
}
