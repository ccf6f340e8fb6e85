import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { installRuntimeLogger } from '../../../src/temporal/logger.ts';
import { createHoldfastWorker } from './holdfast-worker.ts';
import { createRawWorker } from './raw-worker.ts';
import type { WorkerMessage, WorkerSettings } from './settings.ts';

/**
 * A worker in a process of its own, so that neither kind waits for the other's event loop and memory
 * is one worker's. Shuts down when its parent is gone or lets it go: a worker that just died would leave polls
 * behind, to which the server goes on handing tasks.
 */
async function main(settings: WorkerSettings): Promise<void> {
  installRuntimeLogger(pino({ level: 'silent' }));
  const worker = settings.kind === 'holdfast' ? await createHoldfastWorker(settings) : await createRawWorker(settings);
  loop.enable();
  process.on('message', () => void memoryNow().then(tell));
  if (process.connected) process.once('disconnect', () => worker.shutdown());
  else worker.shutdown();
  tell({ kind: 'ready', identity: worker.identity });
  await worker.ended;
  // Connections of the worker are still open, and nobody needs them any more.
  process.exit(0);
}

/** Milliseconds between two looks at the clock. */
const RESOLUTION = 10;

const loop = monitorEventLoopDelay({ resolution: RESOLUTION });

/** After two collections, so that what is counted is held and not merely not yet freed. */
async function memoryNow(): Promise<WorkerMessage> {
  // Before the collections, which are the bench's own. The histogram holds the time between two looks.
  const [lateMilliseconds = 0, latestMilliseconds = 0] = [loop.percentile(99), loop.max].map((nanoseconds) =>
    Math.max(0, nanoseconds / 1e6 - RESOLUTION),
  );
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  // The collections end up in the histogram with the next look.
  await delay(2 * RESOLUTION);
  loop.reset();
  return { kind: 'memory', residentBytes: rss, heapBytes: heapUsed, lateMilliseconds, latestMilliseconds };
}

function tell(message: WorkerMessage): void {
  if (process.connected) process.send?.(message);
}

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? '{}');
await main(settings);
