import type { BenchStack } from '../bench-stack.ts';
import type { BenchWorker } from './worker-process.ts';

/** Two workers that share the work; whichever is killed is replaced. */
export class MortalWorkers {
  readonly #stack: BenchStack;
  #workers: readonly BenchWorker[] = [];

  constructor(stack: BenchStack) {
    this.#stack = stack;
  }

  /** Resolves when two workers serve. */
  async complete(): Promise<void> {
    const alive = this.#workers.filter(({ process: child }) => child.exitCode === null && child.signalCode === null);
    const missing = Array.from({ length: 2 - alive.length }, () => this.#stack.startWorker('holdfast'));
    this.#workers = [...alive, ...(await Promise.all(missing))];
  }

  named(identity: string): BenchWorker | undefined {
    return this.#workers.find((worker) => worker.identity === identity);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}
