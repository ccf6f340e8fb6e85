import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Client } from '@temporalio/client';
import type { Database } from '../store/database/database.ts';

/** A worker is not ready if Temporal does not answer within this. */
const TEMPORAL_MILLISECONDS = 2_000;

export async function requireReady(
  isShuttingDown: boolean,
  { database, client: { connection } }: { readonly database: Database; readonly client: Client },
): Promise<void> {
  if (isShuttingDown) throw new Error('the worker shuts down');
  await database`select 1`;
  await connection.withDeadline(Date.now() + TEMPORAL_MILLISECONDS, () => connection.workflowService.getSystemInfo({}));
}

/**
 * Answers `/healthz` while the process lives and `/readyz` while the worker serves turns, until the worker has ended.
 * @param port 0: a free one
 * @returns the port
 */
export async function serveHealth(
  port: number,
  { checkReady, ended }: { readonly checkReady: () => Promise<void>; readonly ended: Promise<void> },
): Promise<number> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
    };
    if (request.url === '/healthz') answer(200, 'ok');
    else if (request.url !== '/readyz') answer(404, 'not found');
    else
      void checkReady().then(
        () => answer(200, 'ok'),
        () => answer(503, 'not ready'),
      );
  });
  server.listen(port);
  await once(server, 'listening');
  const close = (): void => void server.close();
  void ended.then(close, close);
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
