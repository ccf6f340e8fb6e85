import { rm, writeFile } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { signalProcess } from '../../src/local/process-signals.ts';
import { describeLeaks, leakedProcesses } from './leaked-processes.ts';
import type { FoundProcess } from './leaked-processes.ts';
import { COUNTS_VARIABLE, leakedCountPath } from './plain-line-reporter.ts';
import { startTestPostgres, startTestTemporal, temporaryDirectory } from './servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection URL of the `postgres` database, as a superuser. Tests take a database of their own: `createTestDatabase`. */
    databaseUrl: string;
    /** `host:port` of the shared Temporal server. */
    temporalAddress: string;
  }
}

/** Vitest prints an error of a teardown and goes on to exit with 0, so the exit code and the count are set here. */
async function failRun(leaked: readonly FoundProcess[]): Promise<never> {
  process.exitCode = 1;
  const counts = process.env[COUNTS_VARIABLE];
  if (counts !== undefined) await writeFile(leakedCountPath(counts), String(leaked.length));
  throw new Error(describeLeaks(leaked));
}

/**
 * One Postgres and one Temporal for all test files. HOLDFAST_TEST_DATABASE_URL and HOLDFAST_TEST_TEMPORAL_ADDRESS name
 * running ones instead, which are left running.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Inherited by everything that a test starts: a process that still has it at the end has leaked.
  const directory = await temporaryDirectory('test-run');
  process.env['TMPDIR'] = directory;
  const databaseUrl = process.env['HOLDFAST_TEST_DATABASE_URL'];
  const temporalAddress = process.env['HOLDFAST_TEST_TEMPORAL_ADDRESS'];
  const [postgres, temporal] = await Promise.allSettled([
    databaseUrl === undefined ? startTestPostgres() : null,
    temporalAddress === undefined ? startTestTemporal() : null,
  ]);
  const servers = [postgres, temporal].flatMap((result) =>
    result.status === 'fulfilled' && result.value !== null ? [result.value] : [],
  );
  const teardown = async (): Promise<void> => {
    await Promise.all(servers.map(async (server) => server.stop()));
    const leaked = await leakedProcesses(directory);
    for (const { processId } of leaked) signalProcess(processId, 'SIGKILL');
    await rm(directory, { recursive: true, force: true });
    if (leaked.length > 0) await failRun(leaked);
  };
  const failure = [postgres, temporal].find((result) => result.status === 'rejected');
  if (failure !== undefined) {
    await teardown();
    throw failure.reason;
  }
  if (postgres.status === 'fulfilled')
    project.provide('databaseUrl', databaseUrl ?? postgres.value?.url('postgres') ?? '');
  if (temporal.status === 'fulfilled')
    project.provide('temporalAddress', temporalAddress ?? temporal.value?.address ?? '');
  return teardown;
}
