import { EXIT_CODES } from './exit-codes.ts';

/** Signals that ask a command to leave, with the exit codes that shells know them by. */
const EXIT_CODES_OF_SIGNALS = {
  SIGHUP: 129,
  SIGINT: EXIT_CODES.interrupted.code,
  SIGTERM: EXIT_CODES.terminated.code,
} as const;

/** Milliseconds that interrupted work gets to end in order: a server that is silent must not keep the terminal. */
const WORK_MILLISECONDS = 400;
/** Milliseconds after which an interrupted command is gone, whatever it waits for. */
const EXIT_MILLISECONDS = 800;
/** A terminal sends Ctrl-C to npx and to the command, and npx may send it on: one key press arrives twice. Milliseconds. */
const SAME_SIGNAL_MILLISECONDS = 300;
const PARENT_CHECK_MILLISECONDS = 250;

/** For a command whose request had no answer when the user left. */
export const LEFT_UNANSWERED = 'You left; the server had not answered whether the request is stored.';

interface Work {
  readonly controller: AbortController;
  /** Ends in order however long that takes, and with the exit code that it sets. */
  readonly isService: boolean;
}

let current: Work | null = null;
let interruptedBy: number | null = null;

/** Lets signals end this process within a second; work under `interruptible` is told first. Once per process. */
export function endOnSignals(): void {
  let signalledAt: number | null = null;
  const interrupt = (code: number): void => {
    if (signalledAt !== null) {
      if (performance.now() - signalledAt > SAME_SIGNAL_MILLISECONDS) process.exit(code);
      return;
    }
    signalledAt = performance.now();
    if (current === null) process.exit(code);
    current.controller.abort();
    if (current.isService) return;
    interruptedBy = code;
    setTimeout(() => process.exit(code), EXIT_MILLISECONDS);
  };
  for (const [signal, code] of Object.entries(EXIT_CODES_OF_SIGNALS)) process.on(signal, () => interrupt(code));
  if (process.env['npm_command'] !== undefined) onOrphaned(() => interrupt(EXIT_CODES.terminated.code));
}

/** npx hands a SIGTERM to the shell that it starts a command with, and the shell dies of it without a word to the command. */
function onOrphaned(orphaned: () => void): void {
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    orphaned();
  }, PARENT_CHECK_MILLISECONDS);
  timer.unref();
}

/** The exit code of the signal that interrupted the command; `null` when none did, or a service has ended in order. */
export function exitCodeOfInterruption(): number | null {
  return interruptedBy;
}

/**
 * Runs `work` with a signal that Ctrl-C, SIGTERM and a closed terminal abort; a second one ends the process at once.
 * @returns what the work returned, `null` when it was interrupted and did not end within 400 ms; and whether it was interrupted
 */
export async function interruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<{ readonly result: Result | null; readonly interrupted: boolean }> {
  const { signal } = begin({ isService: false });
  let timer: NodeJS.Timeout | undefined;
  const abandoned = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => {
      timer = setTimeout(() => resolve(null), WORK_MILLISECONDS);
    });
  });
  try {
    return { result: await Promise.race([work(signal), abandoned]), interrupted: signal.aborted };
  } finally {
    clearTimeout(timer);
    current = null;
  }
}

/**
 * Runs what a signal must end in order, such as servers: it is waited for, sets the exit code itself, and a second signal ends the
 * process at once.
 */
export async function untilSignalled<Result>(
  service: (signal: AbortSignal) => Promise<Result>,
): Promise<{ readonly result: Result; readonly interrupted: boolean }> {
  const { signal } = begin({ isService: true });
  try {
    return { result: await service(signal), interrupted: signal.aborted };
  } finally {
    current = null;
  }
}

/** For a service that needs nothing else than to be there. */
export function untilAborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', resolve);
  });
}

function begin({ isService }: Pick<Work, 'isService'>): AbortController {
  const controller = new AbortController();
  current = { controller, isService };
  return controller;
}
