import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { startTestPostgres, startTestTemporal } from './servers.ts';
import watchForLeaks from './watch-for-leaks.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection URL of the `postgres` database, as a superuser. Tests take a database of their own: `createTestDatabase`. */
    databaseUrl: string;
    /** `host:port` of the shared Temporal server. */
    temporalAddress: string;
    /** `host:port` of a Temporal server that suggests to continue as new after 25 events instead of 4,096. */
    shortHistoryTemporalAddress: string;
  }
}

async function buildProgram(): Promise<void> {
  const build = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url));
  await promisify(execFile)(process.execPath, [build, '--if-changed']);
}

/** Of each task queue, where Temporal's default of four has tasks and pollers looking for each other; of little use to one server. */
const ONE_PARTITION = {
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
};

/**
 * One Postgres and two Temporal servers for all test files. HOLDFAST_TEST_DATABASE_URL and HOLDFAST_TEST_TEMPORAL_ADDRESS name
 * running ones instead, which are left running.
 */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const lookForLeaks = await watchForLeaks(project);
  await buildProgram();
  // Programs that the tests start run compiled: half the time of each start.
  project.config.env = { ...project.config.env, HOLDFAST_RUN: 'dist' };
  // The servers start from this process, and count too.
  process.env['TMPDIR'] = project.config.env['TMPDIR'];
  const databaseUrl = process.env['HOLDFAST_TEST_DATABASE_URL'];
  const temporalAddress = process.env['HOLDFAST_TEST_TEMPORAL_ADDRESS'];
  const [postgres, temporal, shortHistories] = await Promise.allSettled([
    databaseUrl === undefined ? startTestPostgres() : null,
    temporalAddress === undefined ? startTestTemporal({ dynamicConfiguration: ONE_PARTITION }) : null,
    startTestTemporal({ suggestContinueAsNewEvents: 25, dynamicConfiguration: ONE_PARTITION }),
  ]);
  const servers = [postgres, temporal, shortHistories].flatMap((result) =>
    result.status === 'fulfilled' && result.value !== null ? [result.value] : [],
  );
  const teardown = async (): Promise<void> => {
    await Promise.all(servers.map(async (server) => server.stop()));
    await lookForLeaks();
  };
  const failure = [postgres, temporal, shortHistories].find((result) => result.status === 'rejected');
  if (failure !== undefined) {
    await teardown();
    throw failure.reason;
  }
  if (postgres.status === 'fulfilled')
    project.provide('databaseUrl', databaseUrl ?? postgres.value?.url('postgres') ?? '');
  if (temporal.status === 'fulfilled')
    project.provide('temporalAddress', temporalAddress ?? temporal.value?.address ?? '');
  if (shortHistories.status === 'fulfilled')
    project.provide('shortHistoryTemporalAddress', shortHistories.value.address);
  return teardown;
}
