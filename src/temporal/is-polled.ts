import type { ConnectionLike } from '@temporalio/client';

/** `TaskQueueType.WORKFLOW` of Temporal's API. */
const WORKFLOW_TASK_QUEUE = 1;

/** Whether a worker has polled the queue since a time in milliseconds. Temporal lists the pollers of dead workers for minutes. */
export async function isPolled(
  connection: ConnectionLike,
  { namespace, taskQueue, since }: { readonly namespace: string; readonly taskQueue: string; readonly since: number },
): Promise<boolean> {
  const { pollers } = await connection.withDeadline(Date.now() + 2000, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: WORKFLOW_TASK_QUEUE,
    }),
  );
  return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 + 999 >= since);
}
