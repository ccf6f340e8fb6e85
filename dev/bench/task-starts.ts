import type { Client } from '@temporalio/client';

/** A task that a worker has taken, as a history tells. */
export interface TaskStart {
  /** Name of the activity; `null`: a task of the workflow. */
  readonly activity: string | null;
  readonly attempt: number;
  readonly identity: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** A workflow task that its worker did not answer in time. */
  readonly timedOut: boolean;
  /** Nothing has followed yet. */
  readonly isLastEvent: boolean;
}

/** In order of time. An activity's last attempt is known once it has ended. */
export async function readStarts(temporal: Client, workflowId: string): Promise<TaskStart[]> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  const all = events ?? [];
  const names = new Map(
    all.map(({ eventId, activityTaskScheduledEventAttributes: scheduled }) => [
      String(eventId),
      scheduled?.activityType?.name ?? '',
    ]),
  );
  const timedOut = new Set(
    all.flatMap(({ workflowTaskTimedOutEventAttributes: end }) => (end ? [String(end.startedEventId)] : [])),
  );
  const starts = all.flatMap((event, place): TaskStart[] => {
    const { activityTaskStartedEventAttributes: activity, workflowTaskStartedEventAttributes: task, eventTime } = event;
    const started = activity ?? task;
    if (!started) return [];
    return [
      {
        activity: activity ? (names.get(String(activity.scheduledEventId)) ?? '') : null,
        attempt: activity?.attempt ?? 1,
        identity: started.identity ?? '',
        at: Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6,
        timedOut: timedOut.has(String(event.eventId)),
        isLastEvent: place === all.length - 1,
      },
    ];
  });
  return starts.toSorted((left, right) => left.at - right.at);
}
