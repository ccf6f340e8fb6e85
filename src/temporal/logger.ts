import { pino } from 'pino';
import type { Logger } from 'pino';
import { Runtime } from '@temporalio/worker';
import type { LogLevel, LogMetadata, Logger as TemporalLogger } from '@temporalio/worker';
import { createRuntimeMetrics } from './runtime-metrics.ts';

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

/**
 * Sends Temporal's logs, with those of its native core, through pino, and its metrics through OpenTelemetry. Call it once per process,
 * before any connection: a second call throws.
 */
export function installRuntimeLogger(logger: Logger): void {
  const buffer = createRuntimeMetrics();
  Runtime.install({
    logger: adapt(logger.child({ component: 'temporal' })),
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(buffer !== null && { metrics: { buffer } }),
    },
    // The worker process handles its own signals.
    shutdownSignals: [],
  });
}

const PINO_LEVELS: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

function adapt(logger: Logger): TemporalLogger {
  const log = (level: LogLevel, message: string, meta?: LogMetadata): void => {
    logger[PINO_LEVELS[level]](plain(meta), message);
  };
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}

/** Without symbol keys, and errors without their message, which may quote the conversation. */
function plain(meta: LogMetadata | undefined): Record<string, unknown> {
  const entries = Object.entries(meta ?? {}).map(([key, value]): [string, unknown] =>
    value instanceof Error
      ? [key, { name: value.name, stack: value.stack?.split('\n').slice(1, 8).join('\n') }]
      : [key, value],
  );
  return Object.fromEntries(entries);
}
