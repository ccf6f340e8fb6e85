import { pino } from 'pino';
import type { Logger } from 'pino';

/** Bytes of lines that wait while the log cannot be written. Later lines are dropped. */
const WAITING_BYTES = 1_000_000;

/**
 * A log on a full disk must not end the work, so lines wait for room.
 * @param level pino's; from `HOLDFAST_LOG_LEVEL`, default `info`.
 * @param dest file descriptor. Default: standard error.
 */
export function createLogger(level: string, dest = 2): Logger {
  // Synchronous, because the last line before a crash is the one that is needed.
  const destination = pino.destination({ dest, sync: true, maxLength: WAITING_BYTES });
  destination.on('error', () => undefined);
  // pino flushes after a fatal line, and the flush of sonic-boom blocks the thread until the disk has room.
  destination.flushSync = () => undefined;
  return pino({ level, base: { pid: process.pid } }, destination);
}
