import type { Client, WorkflowHandle } from '@temporalio/client';
import { onTestFinished } from 'vitest';
import type { Activities } from '../../../src/activities/create-activities.ts';
import { newId } from '../../../src/store/database/ids.ts';
import type { EndTurnInput } from '../../../src/turn/activity-values.ts';
import { turnWorkflowId } from '../../../src/turn/temporal-names.ts';
import { ringDoorbell } from '../../../src/temporal/ring-doorbell.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { scriptedActivities, startWorkerOfActivities, endedAs } from './worker-of-activities.ts';
import type { WorkerOfActivities } from './worker-of-activities.ts';

export interface ScriptedTurn extends WorkerOfActivities {
  readonly conversationId: string;
  /** Waits for the end of the turn, and returns what was to be stored of it. */
  end(): Promise<readonly EndTurnInput[]>;
  /** Runs of its workflow so far. */
  runs(): Promise<number>;
}

/** Starts a turn with these activities; its worker stops with the test. */
export async function startScriptedTurn(
  address: string,
  scripted: (turn: { conversationId: string; worker: () => WorkerOfActivities }) => Partial<Activities>,
): Promise<ScriptedTurn> {
  const conversationId = newId();
  const ended: EndTurnInput[] = [];
  let worker: WorkerOfActivities | undefined;
  const started = (): WorkerOfActivities => {
    if (worker === undefined) throw new Error('the worker is not started');
    return worker;
  };
  const { endTurn, ...activities } = scripted({ conversationId, worker: started });
  worker = await startWorkerOfActivities(
    address,
    scriptedActivities({
      ...activities,
      endTurn: async (input) => {
        const end = (await endTurn?.(input)) ?? endedAs(input);
        if (end.kind === 'ended') ended.push(input);
        return end;
      },
    }),
  );
  onTestFinished(() => started().stop());
  await ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
  return {
    ...worker,
    conversationId,
    async end() {
      await waitUntil('the turn ends', () => ended.length > 0);
      return ended;
    },
    runs: async () => (await runHistories(started().temporal, conversationId)).length,
  };
}

type RunEvents = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** Events of all runs of a conversation's workflow, newest run first: each knows the one that it followed. */
export async function runHistories(temporal: Client, conversationId: string): Promise<RunEvents[]> {
  const runs: RunEvents[] = [];
  let runId: string | null | undefined;
  do {
    const handle = temporal.workflow.getHandle(turnWorkflowId(conversationId), runId ?? undefined);
    const { events } = await handle.fetchHistory();
    runs.push(events ?? []);
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  } while (runId != null && runId !== '');
  return runs;
}

/** Waits until the workflow has seen all that happened to it so far, activities that run left out. */
export async function waitUntilSeen({ temporal }: WorkerOfActivities, conversationId: string): Promise<void> {
  await waitUntil('the workflow has seen it', async () => {
    const { raw } = await temporal.workflow.getHandle(turnWorkflowId(conversationId)).describe();
    return raw.pendingWorkflowTask == null;
  });
}
