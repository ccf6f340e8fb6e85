import type { Logger } from 'pino';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { LogMetadata } from '@temporalio/worker';
import { createRuntimeMetrics } from './runtime-metrics.ts';

/**
 * Sends Temporal's logs, with those of its native core, through pino, and its metrics through OpenTelemetry. Call it once per process,
 * before any connection: a second call throws.
 */
export function installRuntimeLogger(logger: Logger): void {
  const buffer = createRuntimeMetrics();
  const child = logger.child({ component: 'temporal' });
  Runtime.install({
    logger: new DefaultLogger('TRACE', ({ level, message, meta }) => child[PINO_LEVELS[level]](plain(meta), message)),
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(buffer !== null && { metrics: { buffer } }),
    },
    // The worker process handles its own signals.
    shutdownSignals: [],
  });
}

const PINO_LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Without symbol keys, and errors without their message, which may quote the conversation. */
function plain(meta: LogMetadata | undefined): Record<string, unknown> {
  const entries = Object.entries(meta ?? {}).map(([key, value]): [string, unknown] =>
    value instanceof Error
      ? [key, { name: value.name, stack: value.stack?.split('\n').slice(1, 8).join('\n') }]
      : [key, value],
  );
  return Object.fromEntries(entries);
}
