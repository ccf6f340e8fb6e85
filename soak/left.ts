import { setTimeout as delay } from 'node:timers/promises';
import { processesOfRun } from '../test/support/leaked-processes.ts';
import type { Violation } from './violation.ts';

/** Workers look every ten seconds for what commands of killed ones left on this machine. */
const SWEEP_MILLISECONDS = 15_000;
const POLL_MILLISECONDS = 250;
/** On a busy machine the shell that guards a server ends a moment after it. */
const LAST_PROCESS_MILLISECONDS = 5_000;

/** Waits until no command of this run has left anything, or until workers have had the time to end it. */
export async function waitForCommands(directory: string): Promise<void> {
  const end = Date.now() + SWEEP_MILLISECONDS;
  while (Date.now() < end) {
    const left = await processesOfRun(directory);
    if (!left.some(({ command }) => command.includes(DAEMON))) return;
    await delay(POLL_MILLISECONDS);
  }
}

/** Seconds that a daemon of a command lives when nobody ends it: longer than a short run, too short to stay behind. */
const DAEMON_SECONDS = 119;

/** What a daemon of a command is called. */
const DAEMON = `sleep ${DAEMON_SECONDS}`;

/**
 * A command that leaves a daemon behind, in a session of its own where the system has `setsid`, says more than a result shows
 * and runs for a while, so that strikes meet it.
 */
export const DAEMON_COMMAND =
  process.platform === 'linux'
    ? `(setsid ${DAEMON} </dev/null >/dev/null 2>&1 &); seq 1 1500; sleep 2`
    : `(${DAEMON} </dev/null >/dev/null 2>&1 &); seq 1 1500; sleep 2`;

/** Processes that the run started and that are there when everything has ended. */
export async function findLeft(directory: string): Promise<Violation[]> {
  const end = Date.now() + LAST_PROCESS_MILLISECONDS;
  let left = await processesOfRun(directory);
  while (left.length > 0 && Date.now() < end) {
    await delay(POLL_MILLISECONDS);
    left = await processesOfRun(directory);
  }
  return left.map(({ processId, command }) => ({ name: 'process_left', found: `${processId} ${command}` }));
}
