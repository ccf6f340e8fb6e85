import { given } from '../config/environment.ts';
import { createLogger } from '../temporal/logger.ts';
import { DEFAULT_SHUTDOWN_GRACE_MILLISECONDS } from './create-worker.ts';
import type { CreateWorkerOptions } from './create-worker.ts';
import { keepHealthFile, serveHealth } from './health.ts';
import type { RunningWorker } from './start-worker.ts';

/** Milliseconds after the grace period at which the process ends even if a connection does not close, because its server may be gone. */
const EXIT_MARGIN_MILLISECONDS = 8_000;

/** Runs a worker until the signal aborts, then lets running calls finish within the grace period. */
export async function runWorker(
  worker: RunningWorker,
  {
    environment = process.env,
    shutdownGraceMilliseconds: grace = DEFAULT_SHUTDOWN_GRACE_MILLISECONDS,
  }: Pick<CreateWorkerOptions, 'environment' | 'shutdownGraceMilliseconds'>,
  signal: AbortSignal,
): Promise<void> {
  const logger = createLogger(environment['HOLDFAST_LOG_LEVEL'] ?? 'info');
  const healthFile = given(environment, 'HOLDFAST_HEALTH_FILE');
  if (healthFile !== undefined) keepHealthFile(healthFile, { ended: worker.ended, logger });
  const healthPort = given(environment, 'HOLDFAST_HEALTH_PORT');
  if (healthPort !== undefined) await serveHealth(Number(healthPort), worker);
  signal.addEventListener('abort', () => {
    worker.shutdown();
    setTimeout(() => process.exit(1), grace + EXIT_MARGIN_MILLISECONDS).unref();
  });
  await worker.ended;
}
