import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { CancelRequest } from '../turn/cancel-request.ts';

/**
 * Temporal's clock says when the cancel came, that of Postgres when a message did. What was sent before the cancel must be
 * taken, so it reaches further by more than two clocks that are kept right differ: by the time in which a stop is obeyed.
 */
const CLOCK_MARGIN_MILLISECONDS = 2_000;

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/**
 * The newest cancel of a run, or of those that it goes on from: one that a run could not obey any more is obeyed by the next.
 * @returns `null` when Temporal has none, or no longer has the run: it keeps closed ones for a time
 */
export async function cancelRequestOf(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<CancelRequest | null> {
  for (let run = runId; run !== '';) {
    const events = await eventsOf(client, workflowId, run);
    const requested = events.findLast(
      (event) => event.workflowExecutionCancelRequestedEventAttributes != null,
    )?.eventTime;
    if (requested != null) {
      const milliseconds = Number(requested.seconds) * 1_000 + (requested.nanos ?? 0) / 1_000_000;
      return { runId: run, reachesUntil: new Date(milliseconds + CLOCK_MARGIN_MILLISECONDS) };
    }
    run = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  return null;
}

async function eventsOf(client: Client, workflowId: string, runId: string): Promise<Events> {
  try {
    return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}
