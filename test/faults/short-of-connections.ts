import { readFile } from 'node:fs/promises';
import postgres from 'postgres';
import { expect } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';

/** Connections that are refused to the worker while there are too few. */
const REFUSALS = 3;

interface ShortPostgres {
  /** As a superuser. */
  readonly url: string;
  /** That it has in all. */
  readonly connections: number;
  readonly logFile: string;
}

/** Refusals of a connection that Postgres has logged: SQLSTATE 53300, "too many connections". */
async function refusedConnections(logFile: string): Promise<number> {
  const log = await readFile(logFile, 'utf8');
  return log.split('FATAL:  53300:').length - 1;
}

/**
 * Takes every connection that Postgres has, until it has refused some to the worker: the log tells of more refusals than met the
 * connections that are taken here. Then gives all of them back.
 */
export async function runShortOfConnections({ url, connections, logFile }: ShortPostgres): Promise<void> {
  const others = postgres(url, {
    // One more than there are: the last is always refused.
    max: connections + 1,
    backoff: () => 0.01,
    onnotice: () => undefined,
  });
  const admin = await others.reserve();
  const taken = [admin];
  // The log says the SQLSTATE then.
  await admin`alter system set log_error_verbosity = verbose`;
  await admin`select pg_reload_conf()`;
  const before = await refusedConnections(logFile);
  let refusedHere = 0;
  const takeAll = async (): Promise<void> => {
    try {
      for (;;) taken.push(await others.reserve());
    } catch (error) {
      expect(error).toMatchObject({ code: '53300' });
      refusedHere += 1;
    }
  };
  await waitUntil('Postgres has refused the worker', async () => {
    await takeAll();
    // The connections of live text stay: they hold the sessions of the workers, and this is about the others.
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast-worker'`;
    return (await refusedConnections(logFile)) - before - refusedHere >= REFUSALS;
  });
  for (const connection of taken) connection.release();
  await others.end({ timeout: 1 });
}
