import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GuardedProcess } from '../../src/local/guarded-process.ts';
import { startProgram } from '../../src/local/services.ts';
import { followLog } from '../../src/local/log-tail.ts';
import { waitUntilReady } from '../../src/local/wait-until-ready.ts';
import type { Servers } from './servers.ts';

const PROGRAM = fileURLToPath(new URL('worker-program.mjs', import.meta.url));

export const JOURNAL = 'journal.jsonl';

/** What a worker that is asked to go has to end its work. */
export const SHUTDOWN_GRACE_MILLISECONDS = 5_000;

/** A place for a worker; when its process ends another takes the place. */
export interface WorkerPlace {
  readonly number: number;
  /** `null` while none serves. */
  current(): RunningWorker | null;
  /** Resolves when a worker serves in this place. */
  ready(): Promise<void>;
}

export interface RunningWorker {
  readonly process: GuardedProcess;
  /** How Temporal and Postgres begin its name. */
  readonly identity: string;
  /** Dies at the next arrival at one of these crash points. */
  order(points: string): Promise<void>;
  withdrawOrder(): Promise<void>;
}

export interface WorkerPlaces {
  readonly places: readonly WorkerPlace[];
  /** Ends all workers in good order and fills no place again. */
  stop(): Promise<void>;
}

/** Fills each place with a worker, again and again. */
export async function startWorkers(directory: string, servers: Servers, count: number): Promise<WorkerPlaces> {
  await mkdir(join(directory, 'orders'), { recursive: true });
  const abort = new AbortController();
  const places = Array.from({ length: count }, (_, number) => openPlace(directory, servers, number, abort.signal));
  await Promise.all(places.map((place) => place.ready()));
  return {
    places,
    stop: async () => {
      abort.abort();
      await Promise.all(places.map((place) => place.emptied));
    },
  };
}

function openPlace(
  directory: string,
  servers: Servers,
  number: number,
  ending: AbortSignal,
): WorkerPlace & { readonly emptied: Promise<void> } {
  let running: RunningWorker | null = null;
  let announce: () => void = () => undefined;
  let serving = new Promise<void>((resolve) => (announce = resolve));
  const fill = async (): Promise<void> => {
    while (!ending.aborted) {
      // A server that is struck may keep it from starting; the next try comes at once.
      const worker = await startWorker(directory, servers, number).catch(() => null);
      if (worker === null) continue;
      running = worker;
      announce();
      const stop = (): void => void worker.process.stop();
      if (ending.aborted) stop();
      else ending.addEventListener('abort', stop, { once: true });
      await worker.process.exited;
      ending.removeEventListener('abort', stop);
      running = null;
      serving = new Promise<void>((resolve) => (announce = resolve));
      await worker.withdrawOrder();
    }
  };
  const emptied = fill();
  return { number, current: () => running, ready: () => serving, emptied };
}

async function startWorker(directory: string, servers: Servers, number: number): Promise<RunningWorker> {
  const logFile = join(directory, 'logs', `worker-${number}.log`);
  const orders = join(directory, 'orders', String(number));
  const readLog = await followLog(logFile);
  const { PATH = '', HOME = '' } = process.env;
  const started = await startProgram({
    name: 'worker',
    arguments: [PROGRAM],
    environment: {
      PATH,
      HOME,
      TMPDIR: directory,
      DATABASE_URL: servers.databaseUrl,
      TEMPORAL_ADDRESS: servers.temporalAddress,
      HOLDFAST_SIMULATOR_URL: servers.simulatorUrl,
      HOLDFAST_CRASH_ORDERS: orders,
      SOAK_JOURNAL: join(directory, JOURNAL),
      SOAK_GRACE_MILLISECONDS: String(SHUTDOWN_GRACE_MILLISECONDS),
    },
    workingDirectory: directory,
    logFile,
    stopTimeoutMilliseconds: 10_000,
  });
  await waitUntilReady({
    name: 'worker',
    process: started,
    logFile,
    readLog,
    isReady: async () => (await readLog()).includes('worker started'),
  });
  return {
    process: started,
    identity: `${started.processId}@${hostname()}/`,
    order: (points) => writeFile(orders, points),
    withdrawOrder: () => rm(orders, { force: true }),
  };
}
