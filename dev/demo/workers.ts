import { join } from 'node:path';
import type { CrashPoint } from '../../src/activities/runtime/crash-points.ts';
import type { Connections } from '../../src/local/stack-file.ts';
import type { RunningService } from '../../src/local/supervise.ts';
import { startWorkerProcess } from '../../src/local/worker-process.ts';
import type { DemoOptions } from './options.ts';

/** Where a worker is to die. */
export interface PlannedKill {
  readonly crashPoint: CrashPoint;
  /** At which arrival of this worker, from 1. */
  readonly arrival: number;
  /** Activity that the death cuts off, as Temporal names it. */
  readonly activity: string;
  readonly words: string;
}

export interface Kill extends PlannedKill {
  readonly processId: number;
  /** When its end was seen, milliseconds since 1970. */
  readonly at: number;
}

/** The tool call is the 20th: early in every job, and late enough to have something to lose. */
const TOOL_ARRIVAL = 20;

const INSIDE_TOOL_CALL: PlannedKill = {
  crashPoint: 'runTool:claimed',
  arrival: TOOL_ARRIVAL,
  activity: 'runTool',
  words: 'inside a tool call, claimed and not finished',
};

const INSIDE_SUMMARIZATION: PlannedKill = {
  crashPoint: 'summarize:answered',
  arrival: 1,
  activity: 'summarize',
  words: 'inside a summarization, answered and not stored',
};

/** Kills of a demo; without compaction there is no summarization to die in. */
export function plannedKills(options: Pick<DemoOptions, 'kills' | 'compaction' | 'summaries'>): readonly PlannedKill[] {
  if (!options.kills) return [];
  return options.compaction && options.summaries ? [INSIDE_TOOL_CALL, INSIDE_SUMMARIZATION] : [INSIDE_TOOL_CALL];
}

export interface WorkerEvents {
  onStarted(processId: number): void;
  onKilled(kill: Kill): void;
  /** A worker ended that was not to. */
  onFailed(error: Error): void;
}

export interface Workers {
  /** Ends the running worker, and starts no other. */
  stop(): Promise<void>;
}

/** As a shell reports a death by SIGKILL. */
const KILLED_STATUS = 128 + 9;

/** Starts a worker, and another one each time that one dies as planned. */
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
  let stopped = false;
  let running: RunningService | null = null;
  const start = async (planned: PlannedKill | undefined): Promise<RunningService> =>
    startWorkerProcess({
      connections: stack.connections,
      environment: {
        ...stack.environment,
        HOLDFAST_LOG_LEVEL: 'info',
        ...(planned === undefined ? {} : { HOLDFAST_CRASH_POINTS: `${planned.crashPoint}@${planned.arrival}` }),
      },
      workingDirectory: stack.directory,
      logDirectory: stack.logDirectory,
    });
  const succeed = async (first: RunningService): Promise<void> => {
    let worker = first;
    for (let next = 0; ; next += 1) {
      running = worker;
      if (stopped) return worker.stop();
      const { processId } = worker.process;
      events.onStarted(processId);
      const { status } = await worker.process.exited;
      if (stopped) return;
      const planned = kills[next];
      if (planned === undefined || status !== KILLED_STATUS) {
        throw new Error(
          `The worker (process ${processId}) ended with ${status}; its last lines are in ${join(stack.logDirectory, 'worker.log')}.`,
        );
      }
      events.onKilled({ ...planned, processId, at: Date.now() });
      worker = await start(kills[next + 1]);
    }
  };
  const first = await start(kills[0]);
  const succession = succeed(first).catch((error: unknown) => {
    if (!stopped) events.onFailed(error instanceof Error ? error : new Error(String(error)));
  });
  return {
    async stop() {
      stopped = true;
      await running?.stop();
      await succession;
    },
  };
}
