import { createServer } from 'node:net';
import { StackError } from './stack-error.ts';

/** Everything local listens here only: nothing of a development stack should be reachable from the network. */
export const LOCAL_HOST = '127.0.0.1';

/** Tries to listen on a port; 0 asks the system for a free one. Returns the port, or null when it is taken. */
async function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(null);
      else reject(error);
    });
    server.listen({ port, host: LOCAL_HOST, exclusive: true }, () => {
      const address = server.address();
      const found = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(found));
    });
  });
}

/** True when nothing listens on the port of 127.0.0.1 and this user may listen on it. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== null;
}

/** A port that was free a moment ago, chosen by the system. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === null) {
    throw new StackError(
      'port_taken',
      `No free port on ${LOCAL_HOST}.`,
      'Close programs that hold many connections and try again.',
    );
  }
  return port;
}

/** How far from the preferred port a neighbour is looked for before the system chooses one. */
const NEIGHBOURS = 20;

/**
 * The preferred port when it is free, else the next free one above it, else any. Ports in `reserved` were promised to
 * another service that has not started yet.
 */
export async function choosePort(preferred: number, reserved: ReadonlySet<number> = new Set()): Promise<number> {
  for (let port = preferred; port < Math.min(preferred + NEIGHBOURS, 65_536); port++) {
    if (!reserved.has(port) && (await isPortFree(port))) return port;
  }
  for (;;) {
    const port = await freePort();
    if (!reserved.has(port)) return port;
  }
}
