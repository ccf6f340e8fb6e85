import type { Logger } from 'pino';
import { Runtime } from '@temporalio/worker';
import type { LogLevel, LogMetadata, Logger as TemporalLogger } from '@temporalio/worker';
import { createRuntimeMetrics } from './runtime-metrics.ts';

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
