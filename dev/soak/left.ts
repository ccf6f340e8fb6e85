import { setTimeout as delay } from 'node:timers/promises';
import { processesOfRun } from '../../test/support/leaked-processes.ts';
import type { Violation } from './violation.ts';

/** Workers look every ten seconds for what commands of killed ones left on this machine; a busy one needs longer. */
const SWEEP_MILLISECONDS = 120_000;
const POLL_MILLISECONDS = 250;
/** What guards a server ends a moment after it, on a busy machine a long one. */
const LAST_PROCESS_MILLISECONDS = 60_000;

/** Seconds that a daemon of a command lives when nobody ends it: longer than it is waited for. */
const DAEMON_SECONDS = 599;

/** What a daemon of a command is called. */
const DAEMON = `sleep ${DAEMON_SECONDS}`;

/**
 * A command that leaves a daemon behind, in a process group of its own where the system has `setsid`, says more than a result shows
 * and runs for a while, so that strikes meet it.
 */
export const DAEMON_COMMAND =
  process.platform === 'linux'
    ? `(setsid ${DAEMON} </dev/null >/dev/null 2>&1 &); seq 1 1500; sleep 2`
    : `(${DAEMON} </dev/null >/dev/null 2>&1 &); seq 1 1500; sleep 2`;

/** Waits until no command of this run has left anything, or until workers have had the time to end it. */
export async function waitForCommands(directory: string): Promise<void> {
  const end = Date.now() + SWEEP_MILLISECONDS;
  while (Date.now() < end) {
    const left = await processesOfRun(directory);
    if (!left.some(({ command }) => command.includes(DAEMON))) return;
    await delay(POLL_MILLISECONDS);
  }
}

/**
 * Processes that the run started and that are there when everything has ended.
 * @param patience milliseconds that the last ones get
 */
export async function findLeft(directory: string, patience = LAST_PROCESS_MILLISECONDS): Promise<Violation[]> {
  const end = Date.now() + patience;
  let left = await processesOfRun(directory);
  while (left.length > 0 && Date.now() < end) {
    await delay(POLL_MILLISECONDS);
    left = await processesOfRun(directory);
  }
  return left.map(({ processId, command }) => ({ name: 'process_left', found: `${processId} ${command}` }));
}
