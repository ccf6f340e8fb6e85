import { createWorker } from './create-worker.ts';
import type { CreateWorkerOptions } from './create-worker.ts';

/** Runs a worker until SIGTERM or SIGINT, then lets running calls finish within the grace period. A second signal changes nothing: what is cut short is handed over. */
export async function runWorker(options: CreateWorkerOptions = {}): Promise<void> {
  const worker = await createWorker(options);
  const shutdown = (): void => worker.shutdown();
  process.once('SIGTERM', shutdown);
  process.once('SIGINT', shutdown);
  await worker.ended;
}
