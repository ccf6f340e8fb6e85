import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import type { Activities } from '../../../src/activities/create-activities.ts';
import { connectClient } from '../../../src/temporal/connect.ts';
import { loadWorkflowBundle } from '../../../src/temporal/workflow-bundle.ts';
import { createTurnWorkers, runTogether } from '../../../src/worker/create-turn-workers.ts';
import type { EndTurnInput, EndTurnResult, TurnFacts, TurnSettings } from '../../../src/turn/activity-values.ts';
import { installTestRuntime } from '../../support/runtime-logger.ts';
import { withoutThread } from '../../support/turn-harness.ts';

/** A worker with the real workflows and whatever activities a test gives it; no upkeep runs beside it. */
export interface WorkerOfActivities {
  readonly temporal: Client;
  readonly taskQueue: string;
  /** Ids of activities of which the workflow said that they are cancelled. */
  readonly cancelled: readonly number[];
  stop(): Promise<void>;
}

interface Codecs {
  readonly worker: readonly PayloadCodec[];
  readonly client: readonly PayloadCodec[];
}

export async function startWorkerOfActivities(
  address: string,
  activities: Activities,
  codecs: Codecs = { worker: [], client: [] },
): Promise<WorkerOfActivities> {
  installTestRuntime(pino({ level: process.env['HOLDFAST_LOG_LEVEL'] ?? 'silent' }));
  const taskQueue = `agent-turn-${randomUUID()}`;
  const temporal = await connectClient({ address, namespace: 'default' }, codecs.client);
  const connection = await NativeConnection.connect({ address });
  const workflowBundle = await loadWorkflowBundle();
  const cancelled: number[] = [];
  const workers = await withoutThread(() =>
    createTurnWorkers({
      connection,
      codecs: codecs.worker,
      namespace: 'default',
      workflowBundle,
      activities,
      taskQueue,
      identity: 'test',
      concurrentWork: 5,
      shutdownGraceMilliseconds: 1_000,
      sinks: { work: { cancelled: { fn: (_, activityId) => void cancelled.push(activityId) } } },
    }),
  );
  const running = runTogether(workers, {
    grace: 1_000,
    graceOver: () => Promise.resolve(),
    close: () => connection.close(),
  });
  return {
    temporal,
    taskQueue,
    cancelled,
    async stop() {
      running.shutdown();
      await running.ended;
      await temporal.connection.close();
    },
  };
}

export const SETTINGS: TurnSettings = {
  commandOnly: false,
  loopLimits: { repeatedCalls: 100, compactionsWithoutProgress: 10, continuations: 1 },
  facts: { agent: 'reader', model: 'sim/sim-32k', preset: 'default', window: 32_768 },
};

/** Activities without a database: a turn whose model answers at once. Each can be replaced. */
export function scriptedActivities(scripted: Partial<Activities>): Activities {
  const unexpected = (name: string) => (): Promise<never> => Promise.reject(new Error(`${name} is not expected`));
  let begun = false;
  return {
    beginTurn: ({ conversationId }) => {
      if (begun) return Promise.resolve({ kind: 'nothing_waiting' });
      begun = true;
      return Promise.resolve({
        kind: 'begun',
        turn: { conversationId, turnId: randomUUID(), epoch: 1 },
        settings: SETTINGS,
        stopRequested: false,
      });
    },
    continueTurn: () => Promise.resolve({ settings: SETTINGS, stopRequested: false }),
    lookForStop: () => Promise.resolve({ stopRequested: false }),
    readTimeLeft: unexpected('readTimeLeft'),
    compactContext: () => Promise.resolve({ kind: 'fits', view: { headEntryId: 'head', tokens: 100 } }),
    callModel: () => Promise.resolve(ANSWERED),
    requestDecisions: () => Promise.resolve({ waiting: 0, questions: 0, expiresInMilliseconds: 0 }),
    runTool: ({ callNumber }) => Promise.resolve({ state: 'succeeded', fingerprint: String(callNumber) }),
    endTurn: (input) => Promise.resolve(endedAs(input)),
    askHooks: unexpected('askHooks'),
    summarize: unexpected('summarize'),
    commitCompaction: unexpected('commitCompaction'),
    changeBranch: unexpected('changeBranch'),
    ...scripted,
  };
}

/** What is stored of a turn that ends as the workflow says. */
export function endedAs({ outcome, reason }: EndTurnInput): EndTurnResult {
  return { kind: 'ended', waiting: false, outcome, reason, explanation: 'It ended.', steps: 0, cost: 0 };
}

/** The last answer of a turn. */
export const ANSWERED = {
  kind: 'answered',
  tools: { names: [], timeoutSeconds: [], exclusive: [] },
  calls: [],
  turnCost: 0,
} as const;

/** An answer with one tool call. */
export const CALLS_A_TOOL = {
  ...ANSWERED,
  tools: { names: ['publish'], timeoutSeconds: [10], exclusive: [] },
  calls: [0],
} as const;

/** A turn that begins once, as the scripted one does, with something changed. */
export function beginsWith(
  facts: Partial<TurnFacts>,
  changed: Partial<TurnSettings> = {},
): Pick<Activities, 'beginTurn' | 'continueTurn'> {
  const { beginTurn } = scriptedActivities({});
  const settings = { ...SETTINGS, ...changed, facts: { ...SETTINGS.facts, ...facts } };
  return {
    beginTurn: async (input) => {
      const result = await beginTurn(input);
      return result.kind === 'begun' ? { ...result, settings } : result;
    },
    continueTurn: () => Promise.resolve({ settings, stopRequested: false }),
  };
}
