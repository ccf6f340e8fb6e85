import { given } from '../config/environment.ts';
import { createLogger } from '../temporal/logger.ts';
import { DEFAULT_SHUTDOWN_GRACE_MILLISECONDS, createWorker } from './create-worker.ts';
import type { CreateWorkerOptions } from './create-worker.ts';
import { keepHealthFile } from './health-file.ts';

/** Milliseconds after the grace period at which the process ends even if a connection does not close: its server may be gone too. */
const EXIT_MARGIN_MILLISECONDS = 8_000;

/**
 * Runs a worker until SIGTERM or SIGINT, then lets running calls finish within the grace period. A
 * second signal changes nothing: what is cut short is handed over to another worker.
 */
export async function runWorker(options: CreateWorkerOptions = {}): Promise<void> {
  const worker = await createWorker(options);
  const environment = options.environment ?? process.env;
  const logger = createLogger(environment['HOLDFAST_LOG_LEVEL'] ?? 'info');
  const healthFile = given(environment, 'HOLDFAST_HEALTH_FILE');
  if (healthFile !== undefined) keepHealthFile(healthFile, { ended: worker.ended, logger });
  const grace = options.shutdownGraceMilliseconds ?? DEFAULT_SHUTDOWN_GRACE_MILLISECONDS;
  const shutdown = (): void => {
    worker.shutdown();
    setTimeout(() => process.exit(1), grace + EXIT_MARGIN_MILLISECONDS).unref();
  };
  process.once('SIGTERM', shutdown);
  process.once('SIGINT', shutdown);
  await worker.ended;
}
