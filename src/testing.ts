/** `holdfast/testing`: a whole Holdfast on this machine for tests of own tools and agents; its model answers by script. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from './client/connect.ts';
import type { Holdfast } from './client/holdfast.ts';
import type { DefinedAgent } from './config/definitions.ts';
import { startLocalStack } from './local/stack.ts';
import type { ToolDefinition } from './tools/tool.ts';
import { createWorker } from './worker/create-worker.ts';

export interface TestHoldfastOptions {
  /** Agents to test. Those without a model of their own get the scripted one. */
  readonly agents?: readonly DefinedAgent[];
  /** Your tools. */
  readonly tools?: readonly ToolDefinition[];
}

/** A Holdfast of its own, with nothing in it. */
export interface TestHoldfast {
  /**
   * Starts and watches turns. The model does what the task says: `Call <tool> with <JSON>` calls a tool, `Say <text>` answers with it,
   * one step a line.
   */
  readonly holdfast: Holdfast;
  /** Folder that agents work in, empty at the beginning. */
  readonly workspace: string;
  /** Ends worker and servers and deletes their data. */
  stop(): Promise<void>;
}

/**
 * Starts Postgres, Temporal, the scripted model and a worker on free ports. It takes some seconds and works once per process, because
 * Temporal's runtime exists once.
 * @throws StackError when a server cannot be started
 */
export async function startTestHoldfast({ agents = [], tools = [] }: TestHoldfastOptions = {}): Promise<TestHoldfast> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-testing-'));
  const { PATH, HOME } = process.env;
  const stack = await startLocalStack({
    directory: join(directory, '.holdfast'),
    environment: { PATH, HOME },
    services: ['postgres', 'temporal', 'simulator'],
    isAnyPortGood: true,
    durable: false,
  });
  const { databaseUrl, temporalAddress, temporalNamespace, simulatorUrl } = stack.connections;
  const environment = {
    PATH,
    HOME,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: temporalNamespace,
    HOLDFAST_SIMULATOR_URL: simulatorUrl ?? undefined,
    HOLDFAST_MODEL: 'simulator/sim-32k',
    HOLDFAST_LOG_LEVEL: 'error',
  };
  const worker = await createWorker({
    agents,
    tools,
    directory,
    environment,
    shutdownGraceMilliseconds: 1_000,
    shutdownSignals: [],
  });
  const temporal = { address: temporalAddress, namespace: temporalNamespace };
  const holdfast = await connect({ databaseUrl, temporal });
  return {
    holdfast,
    workspace: directory,
    async stop() {
      await holdfast.close();
      worker.shutdown();
      await worker.ended;
      await stack.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
