import { pino } from 'pino';

/**
 * A log of faults as lines of JSON on standard error. It holds names, codes and where an error was thrown, never its message: that may
 * quote what a user wrote.
 */
export function createServerLog(level = 'info'): (error: unknown) => void {
  const logger = pino({ level, base: { pid: process.pid } }, pino.destination({ dest: 2, sync: true }));
  return (error) => {
    const { name, code, stack } = describe(error);
    logger.error({ error: name, code, stack }, 'a request failed');
  };
}

function describe(error: unknown): {
  readonly name: string;
  readonly code?: string;
  readonly stack: readonly string[];
} {
  if (!(error instanceof Error)) return { name: typeof error, stack: [] };
  const stack = (error.stack ?? '').split('\n').filter((line) => /^\s+at /u.test(line));
  return { name: error.name, ...('code' in error && { code: String(error.code) }), stack };
}
