import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorkerMessage, WorkerSettings } from './settings.ts';

export interface BenchWorker {
  /** As Temporal and Postgres name it. */
  readonly identity: string;
  readonly process: ChildProcess;
  /** Bytes held now, after a collection, and how late the event loop was since the last question. */
  memory(): Promise<Omit<Extract<WorkerMessage, { kind: 'memory' }>, 'kind'>>;
  stop(): Promise<void>;
}

/**
 * Returns when the worker polls.
 * @param heapMebibytes most that its heap may hold. Default: Node's own.
 */
export async function startBenchWorker(settings: WorkerSettings, heapMebibytes?: number): Promise<BenchWorker> {
  const heap = heapMebibytes === undefined ? [] : [`--max-old-space-size=${heapMebibytes}`];
  const child = fork(fileURLToPath(new URL('worker-main.ts', import.meta.url)), [JSON.stringify(settings)], {
    execArgv: ['--import', 'tsx', '--expose-gc', ...heap],
    // In a group of its own, Ctrl-C reaches it only through us.
    detached: true,
  });
  const { identity } = await nextMessage(child, 'ready');
  return {
    identity,
    process: child,
    async memory() {
      const answer = nextMessage(child, 'memory');
      child.send('memory');
      return answer;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

async function nextMessage<Kind extends WorkerMessage['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<WorkerMessage, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      child.off('message', receive);
      child.off('exit', fail);
      end();
    };
    const isWanted = (message: WorkerMessage): message is Extract<WorkerMessage, { kind: Kind }> =>
      message.kind === kind;
    const receive = (message: WorkerMessage): void => {
      if (isWanted(message)) settle(() => resolve(message));
    };
    const fail = (code: number | null): void =>
      settle(() => reject(new Error(`a worker of the bench ended with ${code ?? 'a signal'}; its error stands above`)));
    child.on('message', receive);
    child.once('exit', fail);
  });
}
