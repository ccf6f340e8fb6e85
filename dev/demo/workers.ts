import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connections } from '../../src/local/stack-file.ts';
import type { RunningService } from '../../src/local/supervise.ts';
import { startWorkerProcess } from '../../src/local/worker-process.ts';
import type { DemoOptions } from './options.ts';

/** Where a worker is to die. */
export interface PlannedKill {
  readonly crashPoint: string;
  /** Files that were read before. */
  readonly filesRead: number;
  /** Activity that the death cuts off, as Temporal names it. */
  readonly activity: string;
  readonly words: string;
}

export interface Kill extends PlannedKill {
  readonly processId: number;
  /** When its end was seen, milliseconds since 1970. */
  readonly at: number;
}

const INSIDE_TOOL_CALL: PlannedKill = {
  crashPoint: 'runTool:finished',
  // Early in every job, and late enough to have something to lose.
  filesRead: 19,
  activity: 'runTool',
  words: 'inside a tool call, finished and not stored',
};

const INSIDE_SUMMARIZATION: PlannedKill = {
  crashPoint: 'summarize:answered',
  // The third worker has started by then.
  filesRead: 30,
  activity: 'summarize',
  words: 'inside a summarization, answered and not stored',
};

/** Kills of a demo; without compaction there is no summarization to die in. */
export function plannedKills(options: Pick<DemoOptions, 'kills' | 'compaction'>): readonly PlannedKill[] {
  if (!options.kills) return [];
  return options.compaction ? [INSIDE_TOOL_CALL, INSIDE_SUMMARIZATION] : [INSIDE_TOOL_CALL];
}

export interface WorkerEvents {
  /** @param processId of the worker that serves the turn from now on */
  onServing(processId: number): void;
  onKilled(kill: Kill): void;
  /** A worker ended that was not to. */
  onFailed(error: Error): void;
}

export interface Workers {
  /** Told how far the turn has come, so that a worker dies where the next kill is planned. */
  filesRead(count: number): Promise<void>;
  /** Ends the workers, and starts no other. */
  stop(): Promise<void>;
}

/** As a shell reports a death by SIGKILL. */
const KILLED_STATUS = 128 + 9;

interface DemoWorker extends RunningService {
  /** What it reads as `HOLDFAST_CRASH_ORDERS`. */
  readonly orders: string;
}

/** Two workers, so that one goes on at once when the other dies as planned; then another one takes its place. */
class WorkerPair implements Workers {
  private readonly running = new Set<DemoWorker>();
  private readonly start: (orders: string) => Promise<RunningService>;
  private readonly directory: string;
  private readonly kills: readonly PlannedKill[];
  private readonly events: WorkerEvents;
  private started = 0;
  private ordered = 0;
  private killed = 0;
  private isStopped = false;

  constructor(
    start: (orders: string) => Promise<RunningService>,
    directory: string,
    kills: readonly PlannedKill[],
    events: WorkerEvents,
  ) {
    this.start = start;
    this.directory = directory;
    this.kills = kills;
    this.events = events;
  }

  async add(): Promise<void> {
    this.started += 1;
    const orders = join(this.directory, `orders-${this.started}`);
    const worker: DemoWorker = { ...(await this.start(orders)), orders };
    if (this.isStopped) return worker.stop();
    this.running.add(worker);
    if (this.running.size === 1) this.events.onServing(worker.process.processId);
    void this.watch(worker).catch((error: unknown) => {
      if (!this.isStopped) this.events.onFailed(error instanceof Error ? error : new Error(String(error)));
    });
  }

  async filesRead(count: number): Promise<void> {
    const planned = this.kills[this.ordered];
    // One is left to go on.
    if (planned === undefined || this.ordered > this.killed || this.running.size < 2 || count < planned.filesRead)
      return;
    this.ordered += 1;
    // Whichever comes there first.
    await Promise.all([...this.running].map(({ orders }) => writeFile(orders, planned.crashPoint)));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.running].map((worker) => worker.stop()));
  }

  private async watch(worker: DemoWorker): Promise<void> {
    const { processId, exited } = worker.process;
    const { status } = await exited;
    const at = Date.now();
    this.running.delete(worker);
    if (this.isStopped) return;
    const planned = this.kills[this.killed];
    if (planned === undefined || this.ordered === this.killed || status !== KILLED_STATUS) {
      throw new Error(
        `The worker (process ${processId}) ended with ${status}; its last lines are in ${join(this.directory, 'worker.log')}.`,
      );
    }
    this.killed += 1;
    await Promise.all([...this.running].map(({ orders }) => rm(orders, { force: true })));
    this.events.onKilled({ ...planned, processId, at });
    for (const { process: survivor } of this.running) this.events.onServing(survivor.processId);
    await this.add();
  }
}

export async function startWorkers(
  stack: {
    readonly connections: Connections;
    readonly environment: NodeJS.ProcessEnv;
    readonly directory: string;
    readonly logDirectory: string;
  },
  kills: readonly PlannedKill[],
  events: WorkerEvents,
): Promise<Workers> {
  const start = async (orders: string): Promise<RunningService> =>
    startWorkerProcess({
      connections: stack.connections,
      environment: { ...stack.environment, HOLDFAST_LOG_LEVEL: 'info', HOLDFAST_CRASH_ORDERS: orders },
      workingDirectory: stack.directory,
      logDirectory: stack.logDirectory,
    });
  const workers = new WorkerPair(start, stack.logDirectory, kills, events);
  await workers.add();
  if (kills.length > 0) await workers.add();
  return workers;
}
