import type { Client } from '@temporalio/client';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';

/** What Temporal's history holds of the turn, all runs together. */
export interface HistoryFacts {
  readonly bytes: number;
  readonly events: number;
  readonly continuedAsNew: number;
  /** Highest attempt that the history shows, by name of the activity. */
  readonly attempts: ReadonlyMap<string, number>;
}

/** Reads the history of a conversation's workflow, following continue-as-new from the first run. */
export async function readHistory(client: Client, conversationId: string): Promise<HistoryFacts> {
  const workflowId = turnWorkflowId(conversationId);
  const newest = await client.workflow.getHandle(workflowId).describe();
  const attempts = new Map<string, number>();
  let runId: string | null = newest.raw.workflowExecutionInfo?.firstRunId ?? newest.runId;
  let bytes = 0;
  let events = 0;
  let runs = 0;
  while (runId !== null) {
    const { description, history } = await readRun(client, workflowId, runId);
    bytes += description.historySize ?? 0;
    events += description.historyLength;
    runs += 1;
    addAttempts(attempts, history.events ?? []);
    const last = history.events?.at(-1);
    runId = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? null;
  }
  return { bytes, events, continuedAsNew: runs - 1, attempts };
}

async function readRun(client: Client, workflowId: string, runId: string) {
  const handle = client.workflow.getHandle(workflowId, runId);
  const [description, history] = await Promise.all([handle.describe(), handle.fetchHistory()]);
  return { description, history };
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

function addAttempts(attempts: Map<string, number>, events: readonly HistoryEvent[]): void {
  const names = new Map(
    events.map((event) => [
      String(event.eventId),
      event.activityTaskScheduledEventAttributes?.activityType?.name ?? null,
    ]),
  );
  for (const { activityTaskStartedEventAttributes: started } of events) {
    const name = started === null || started === undefined ? null : names.get(String(started.scheduledEventId));
    if (name !== null && name !== undefined)
      attempts.set(name, Math.max(attempts.get(name) ?? 0, started?.attempt ?? 1));
  }
}
