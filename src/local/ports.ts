import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { StackError } from './stack-error.ts';

/** Everything local listens here only: nothing of a development stack should be reachable from the network. */
export const LOCAL_HOST = '127.0.0.1';

/** True when nothing listens on the port of 127.0.0.1 and this user may listen on it. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host: LOCAL_HOST, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Below the ports that systems give to outgoing connections (Linux from 32,768, others from 49,152): one of these may have a
 * port for a moment between two starts of its service.
 */
const CHOSEN_PORTS = { first: 20_000, last: 32_767 };
const LARGEST_TRIES = 1000;

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < LARGEST_TRIES; tries++) {
    const port = randomInt(CHOSEN_PORTS.first, CHOSEN_PORTS.last + 1);
    if (await isPortFree(port)) return port;
  }
  throw new StackError(
    'port_taken',
    `No free port on ${LOCAL_HOST} between ${CHOSEN_PORTS.first} and ${CHOSEN_PORTS.last}.`,
    'Close programs that listen there and try again.',
  );
}

/** How far from the preferred port a neighbour is looked for before the system chooses one. */
const NEIGHBOURS = 20;

/**
 * The preferred port when it is free, else the next free one above it, else any free one. Ports in `reserved` were promised to
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
