import { pino } from 'pino';
import { installRuntimeLogger } from '../../src/temporal/logger.ts';
import { createHoldfastWorker } from './holdfast-worker.ts';
import { createRawWorker } from './raw-worker.ts';
import type { WorkerMessage, WorkerSettings } from './settings.ts';

/**
 * A worker in a process of its own, so that neither kind waits for the other's event loop and memory
 * is one worker's. Ends with its parent: nothing it does is worth finishing then.
 */
async function main(settings: WorkerSettings): Promise<void> {
  process.once('disconnect', () => process.exit(0));
  installRuntimeLogger(pino({ level: 'silent' }));
  const workers = settings.kind === 'holdfast' ? await createHoldfastWorker(settings) : await createRawWorker(settings);
  process.on('message', () => tell(memoryNow()));
  tell({ kind: 'ready' });
  await workers.run();
}

/** After two collections, so that what is counted is held and not merely not yet freed. */
function memoryNow(): WorkerMessage {
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { kind: 'memory', residentBytes: rss, heapBytes: heapUsed };
}

function tell(message: WorkerMessage): void {
  process.send?.(message);
}

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? '{}');
await main(settings);
