import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { given } from '../config/environment.ts';
import { describeError } from '../activities/runtime/failures.ts';
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

/** Serves the probes that `HOLDFAST_HEALTH_PORT` and `HOLDFAST_HEALTH_FILE` ask for, until the worker has ended. */
export async function serveProbes(
  worker: { readonly checkReady: () => Promise<void>; readonly ended: Promise<void> },
  environment: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): Promise<void> {
  const file = given(environment, 'HOLDFAST_HEALTH_FILE');
  if (file !== undefined) keepHealthFile(file, { ended: worker.ended, logger });
  const port = given(environment, 'HOLDFAST_HEALTH_PORT');
  if (port !== undefined) await serveHealth(Number(port), worker);
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

/** The container image's check calls a worker dead if the file is older than 30 seconds. */
const INTERVAL_MILLISECONDS = 5_000;

/**
 * Writes a file every few seconds while a worker runs, so that a health check needs no program of its own: the file's age shows that the
 * worker lives. Removes the file when the worker has ended.
 * @param path absolute or relative to the working directory
 */
export function keepHealthFile(
  path: string,
  { ended, logger, interval = INTERVAL_MILLISECONDS }: { ended: Promise<void>; logger: Logger; interval?: number },
): void {
  const write = (): Promise<void> =>
    writeFile(path, `${process.pid}\n`).catch((error: unknown) =>
      logger.warn(describeError(error), 'the health file could not be written'),
    );
  let last = write();
  const timer = setInterval(() => {
    last = write();
  }, interval);
  const end = async (): Promise<void> => {
    clearInterval(timer);
    await last;
    await rm(path, { force: true });
  };
  void ended.then(end, end);
}
