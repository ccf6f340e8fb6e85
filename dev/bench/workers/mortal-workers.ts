import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchStack } from '../bench-stack.ts';

export interface MortalWorker {
  /** As Temporal and Postgres name it. */
  readonly identity: string;
  readonly process: ChildProcess;
}

/** Two workers that share the work; whichever is killed is replaced. */
export class MortalWorkers {
  readonly #stack: BenchStack;
  #workers: readonly MortalWorker[] = [];

  constructor(stack: BenchStack) {
    this.#stack = stack;
  }

  /** Resolves when two workers serve. */
  async complete(): Promise<void> {
    const alive = this.#workers.filter(({ process: child }) => child.exitCode === null && child.signalCode === null);
    const missing = Array.from({ length: 2 - alive.length }, () => start(this.#stack));
    this.#workers = [...alive, ...(await Promise.all(missing))];
  }

  named(identity: string): MortalWorker | undefined {
    return this.#workers.find((worker) => worker.identity === identity);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#workers.map(async ({ process: child }) => {
        if (!child.connected) return;
        const exited = once(child, 'exit');
        child.disconnect();
        await exited;
      }),
    );
  }
}

async function start({ connections, workspace }: BenchStack): Promise<MortalWorker> {
  const agents = { default: { model: 'simulator/sim-8k', tools: ['hold', 'read_file'], workspace } };
  await writeFile(join(workspace, 'holdfast.yaml'), JSON.stringify({ agents }));
  const child = fork(fileURLToPath(new URL('mortal-worker.ts', import.meta.url)), [], {
    cwd: workspace,
    execArgv: ['--import', import.meta.resolve('tsx')],
    env: {
      ...process.env,
      DATABASE_URL: connections.databaseUrl,
      TEMPORAL_ADDRESS: connections.temporalAddress,
      TEMPORAL_NAMESPACE: connections.temporalNamespace,
      HOLDFAST_SIMULATOR_URL: connections.simulatorUrl ?? '',
      HOLDFAST_LOG_LEVEL: 'error',
    },
    // In a group of its own, Ctrl-C reaches it only through us.
    detached: true,
  });
  const identity = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(typeof message === 'string' ? message : ''));
    child.once('exit', () => reject(new Error('a worker of the bench ended; its error stands above')));
  });
  return { identity, process: child };
}
