import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { readLastWords, readStates } from './connection-states.ts';

/** The part of postgres.js's options that says where to connect; several hosts are tried in turn. */
interface ServerAddress {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

/**
 * Milliseconds for which the end of a socket is kept from postgres.js when a statement of a transaction was under way: it
 * fails, and the ROLLBACK that follows is written at once, or waits for the end.
 */
const CLOSE_DELAY_MILLISECONDS = 100;

/** The same between two statements: as long as the server lets a transaction idle (`CONNECTION_SETTINGS` of `database.ts`). */
const CLOSE_DELAY_BETWEEN_STATEMENTS_MILLISECONDS = 5_000;

/**
 * Sockets for postgres.js that mend four things.
 *
 * They end when the server keeps silent for longer than `silenceLimitMilliseconds` after it was asked something. A network
 * that drops packets (a firewall that forgot the connection, a machine that is gone) never tells: the kernel goes on sending
 * again for a quarter of an hour, while each query waits and takes a connection of the pool with it. What waited fails as an
 * outage, and later queries make new connections.
 *
 * And a connection that closes inside a transaction does not bring the process down: postgres.js 3.4.9 forgets the socket and
 * then writes its ROLLBACK to it (porsager/postgres issues 1066, 1154, 1208; no release has the mended code).
 *
 * And what was asked of a connection while it closes fails, instead of waiting for ever (`endConnection`).
 *
 * And an error with which the server ends a connection (`57P01` when it is stopped) fails what waits for that connection, and
 * nothing else: postgres.js 3.4.9 keeps it for the first query of the next one, which may come hours later (`failAtLastWords`).
 *
 * Under TLS none of it is seen here: the kernel's limit counts, and `src/worker/driver-fault.ts` ends the worker in order.
 */
export function databaseSockets(silenceLimitMilliseconds?: number): (address: ServerAddress) => Socket {
  let connections = 0;
  return ({ host, port, path }) => {
    const place = connections % host.length;
    connections += 1;
    const name = host[place] ?? 'localhost';
    const socket = path ? connect(path) : connect(port[place] ?? 5_432, name);
    // Read by postgres.js for the name that the server's certificate must carry.
    if (isIP(name) === 0) Object.assign(socket, { host: name });
    if (silenceLimitMilliseconds !== undefined) endWhenSilent(socket, silenceLimitMilliseconds);
    closeAfterTransaction(socket);
    failAtLastWords(socket, host.length > 1);
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
  onReceived(socket, answered);
  socket.once('close', answered);
}

/**
 * Holds `close` back while a transaction is open, fails what it waits for and still writes, and lets it pass when it writes
 * no more. A connection inside a transaction is reserved, so nobody else's query comes to it meanwhile.
 */
function closeAfterTransaction(socket: Socket): void {
  let inTransaction = false;
  let isAsked = false;
  let isHeld = false;
  let timer: NodeJS.Timeout | undefined;
  const read = readStates((state) => {
    isAsked = false;
    inTransaction = state !== 'idle';
  });
  onReceived(socket, read);
  const emit = socket.emit.bind(socket) as (event: string, ...values: unknown[]) => boolean;
  let write = socket.write.bind(socket);
  let passClose = (): void => undefined;
  const failAndWait = (milliseconds: number): void => {
    if (!isHeld) return;
    emit('error', closed());
    clearTimeout(timer);
    timer = setTimeout(passClose, milliseconds).unref();
  };
  const writeWhileOpen = (...written: Parameters<typeof write>): boolean => {
    isAsked = true;
    if (!isHeld) return write(...written);
    process.nextTick(failAndWait, CLOSE_DELAY_MILLISECONDS);
    return true;
  };
  // Node puts another `write` in place when the server ends the connection.
  Object.defineProperty(socket, 'write', {
    get: () => writeWhileOpen,
    set: (replacement: typeof write) => {
      write = replacement.bind(socket);
    },
  });
  Object.assign(socket, {
    emit(event: string, ...values: unknown[]): boolean {
      if (event !== 'close') return emit(event, ...values);
      passClose = () => {
        isHeld = false;
        endConnection(values[0] === true, emit);
      };
      if (!inTransaction) {
        passClose();
        return true;
      }
      isHeld = true;
      failAndWait(isAsked ? CLOSE_DELAY_MILLISECONDS : CLOSE_DELAY_BETWEEN_STATEMENTS_MILLISECONDS);
      return true;
    },
  });
}

/**
 * Tells the error with which the server ends the connection when the socket closes, instead of handing its message over: postgres.js
 * keeps that until the server is ready for the next query, and then it is one of another connection. Not before it closes: what is
 * asked at once by whoever is told would come to this connection too.
 * @param isOneOfMany another host is tried when this one refuses the connection: postgres.js sees to that by itself
 */
function failAtLastWords(socket: Socket, isOneOfMany: boolean): void {
  const push = socket.push.bind(socket);
  const emit = socket.emit.bind(socket) as (event: string, ...values: unknown[]) => boolean;
  const read = readLastWords();
  let error: Error | null = null;
  socket.push = (chunk: unknown, ...others) => {
    const last = Buffer.isBuffer(chunk) ? read(chunk) : null;
    if (last === null || (isOneOfMany && !last.isConnected)) return push(chunk, ...others);
    if (last.at > 0 && Buffer.isBuffer(chunk)) push(chunk.subarray(0, last.at));
    ({ error } = last);
    socket.destroy();
    return false;
  };
  Object.assign(socket, {
    emit(event: string, ...values: unknown[]): boolean {
      if (event === 'close' && error !== null) emit('error', error);
      return emit(event, ...values);
    },
  });
}

/**
 * Hands `close` over so that nothing of the connection is left behind. postgres.js goes on with the same object for the next
 * connection, and two things would go with it:
 *
 * - After an error it takes for granted that nothing waits. A query that came between the error and `close` would wait for
 *   ever, or until the next connection's greeting ends it with no rows. So the error is told once more.
 * - A write that is planned is called off and yet counts as planned: nothing would be written again, and each later use of the
 *   object would end at its `connect_timeout` of 30 s. So what is called off is done instead; the closed socket drops it.
 */
function endConnection(hadError: boolean, emit: (event: string, ...values: unknown[]) => boolean): void {
  if (hadError) emit('error', closed());
  const { clearImmediate: callOff } = globalThis;
  globalThis.clearImmediate = (planned) => {
    // Node's own name for the callback. Without it the write is called off as before.
    const { _onImmediate: write } = (planned ?? {}) as { _onImmediate?: (() => void) | null };
    callOff(planned);
    write?.();
  };
  try {
    emit('close', hadError);
  } finally {
    globalThis.clearImmediate = callOff;
  }
}

/** Not by a listener for `data`: the first one makes the stream flow before postgres.js listens. */
function onReceived(socket: Socket, received: (chunk: Buffer) => void): void {
  const push = socket.push.bind(socket);
  socket.push = (chunk: unknown, ...others) => {
    received(Buffer.isBuffer(chunk) ? chunk : Buffer.alloc(0));
    return push(chunk, ...others);
  };
}

function silent(): Error {
  return Object.assign(new Error('Postgres does not answer'), { code: 'ETIMEDOUT' });
}

function closed(): Error {
  return Object.assign(new Error('Postgres closed the connection'), { code: 'CONNECTION_CLOSED' });
}
