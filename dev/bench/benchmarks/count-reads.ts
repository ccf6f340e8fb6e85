import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import postgres from 'postgres';
import type { Database } from '../../../src/store/database/database.ts';

export interface Reads {
  readonly bytes: number;
  readonly queries: number;
}

/** A pool of one connection that tells what passes over it. */
export async function countReads(
  url: string,
): Promise<{ readonly database: Database; during(work: () => Promise<void>): Promise<Reads> }> {
  const { hostname, port } = new URL(url);
  let socket: Socket | undefined;
  let queries = 0;
  const options = {
    max: 1,
    // Not in the package's types: its own way to hand a connected socket in.
    socket: async () => (socket = await connected(hostname, Number(port))),
    debug: () => {
      queries += 1;
    },
  };
  const database = postgres(url, options);
  await database`set search_path = holdfast, public`;
  return {
    database,
    async during(work) {
      const before = { bytes: socket?.bytesRead ?? 0, queries };
      await work();
      return { bytes: (socket?.bytesRead ?? 0) - before.bytes, queries: queries - before.queries };
    },
  };
}

async function connected(host: string, port: number): Promise<Socket> {
  const socket = createConnection({ host, port });
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
}
