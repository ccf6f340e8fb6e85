import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { connect } from '../../src/client/connect.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';
import { AS_APPLICATION } from '../../src/local/postgres/postgres-login.ts';
import type { Connections } from '../../src/local/stack-file.ts';
import { startLocalStack } from '../../src/local/stack.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { makeOwnDirectory, removeOwnDirectory, withoutServers } from '../own-servers.ts';
import { TASK_QUEUES } from './workers/settings.ts';
import type { WorkerKind } from './workers/settings.ts';
import { startBenchWorker } from './workers/worker-process.ts';
import type { BenchWorker } from './workers/worker-process.ts';

export interface BenchWorkerOptions {
  /** Default: Node's own. */
  readonly heapMebibytes?: number;
  /** Model calls and tools at once. Default: 100. */
  readonly concurrentWork?: number;
  /** Default: those of the stack. */
  readonly databaseUrl?: string;
  /** Default: that of the stack. */
  readonly temporalAddress?: string;
}

/** Servers of the bench's own and what talks to them. */
export interface BenchStack {
  readonly connections: Connections;
  readonly client: Holdfast;
  readonly database: Database;
  readonly temporal: Client;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** State of the servers, their logs included. */
  readonly directory: string;
  /** An empty folder, of the workers' agents. */
  readonly workspace: string;
  /** A worker that ends with the stack, if not before. */
  startWorker(kind: WorkerKind, options?: BenchWorkerOptions): Promise<BenchWorker>;
  /** What the raw worker repeats; before it starts. */
  keepRequests(requests: readonly unknown[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startBenchStack(options: {
  readonly durable: boolean;
  readonly signal: AbortSignal;
}): Promise<BenchStack> {
  const directory = await makeOwnDirectory('bench-');
  const workspace = join(directory, 'workspace');
  await mkdir(workspace);
  const closers: (() => Promise<unknown>)[] = [async () => removeOwnDirectory(directory)];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const stack = await startLocalStack({
      directory,
      services: ['postgres', 'temporal', 'simulator'],
      isAnyPortGood: true,
      environment: withoutServers(process.env),
      durable: options.durable,
      signal: options.signal,
    });
    closers.push(async () => stack.stop());
    return {
      ...(await connectStack(stack.connections, { directory, workspace, closers })),
      signal: options.signal,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connectStack(
  connections: Connections,
  { directory, workspace, closers }: { directory: string; workspace: string; closers: (() => Promise<unknown>)[] },
): Promise<Omit<BenchStack, 'signal' | 'stop'>> {
  const { databaseUrl } = connections;
  const temporalAddress = { address: connections.temporalAddress, namespace: connections.temporalNamespace };
  // As the superuser: it fills tables past their triggers, vacuums and measures.
  const database = connectDatabase({ url: databaseUrl.replace(AS_APPLICATION, ''), applicationName: 'holdfast-bench' });
  closers.push(async () => database.end({ timeout: 5 }));
  const client = await connect({ databaseUrl, temporal: temporalAddress, taskQueue: TASK_QUEUES.holdfast });
  closers.push(async () => client.close());
  const temporal = await connectClient(temporalAddress);
  closers.push(async () => temporal.connection.close());
  const requestsFile = join(directory, 'requests.json');
  return {
    connections,
    database,
    client,
    temporal,
    directory,
    workspace,
    async startWorker(kind, { heapMebibytes, concurrentWork = 100, ...servers } = {}) {
      const settings = {
        kind,
        databaseUrl: servers.databaseUrl ?? databaseUrl,
        temporal: { ...temporalAddress, address: servers.temporalAddress ?? temporalAddress.address },
        simulatorUrl: connections.simulatorUrl ?? '',
        workspace,
        requestsFile: kind === 'raw' ? requestsFile : null,
        concurrentWork,
      };
      const worker = await startBenchWorker(settings, heapMebibytes);
      closers.push(async () => worker.stop());
      return worker;
    },
    keepRequests: async (requests) => writeFile(requestsFile, JSON.stringify(requests)),
  };
}
