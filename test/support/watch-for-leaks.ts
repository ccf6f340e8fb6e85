import { appendFile, rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { signalProcess } from '../../src/local/process-signals.ts';
import { describeLeaks, leakedProcesses } from './leaked-processes.ts';
import type { FoundProcess } from './leaked-processes.ts';
import { COUNTS_VARIABLE, leakedCountPath } from './plain-line-reporter.ts';
import { temporaryDirectory } from './servers.ts';

/** Vitest prints an error of a teardown and goes on to exit with 0, so the exit code and the count are set here. */
async function failRun(leaked: readonly FoundProcess[]): Promise<never> {
  process.exitCode = 1;
  const counts = process.env[COUNTS_VARIABLE];
  // A line for each project of the run.
  if (counts !== undefined) await appendFile(leakedCountPath(counts), `${leaked.length}\n`);
  throw new Error(describeLeaks(leaked));
}

/** Gives the tests of a project a temporary folder of their own; at the end, a process that still knows it has leaked. */
export default async function watchForLeaks(project: TestProject): Promise<() => Promise<void>> {
  const directory = await temporaryDirectory('test-run');
  // Inherited by everything that a test starts.
  project.config.env = { ...project.config.env, TMPDIR: directory };
  return async () => {
    const leaked = await leakedProcesses(directory);
    for (const { processId } of leaked) signalProcess(processId, 'SIGKILL');
    await rm(directory, { recursive: true, force: true });
    if (leaked.length > 0) await failRun(leaked);
  };
}
