import type { Client } from '@temporalio/client';
import { releaseWork } from '../../src/temporal/release-work.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { waitUntil } from './wait-until.ts';

/** Makes Temporal give up the attempt that runs for the conversation, and waits until the next one has begun: its worker is not dead. */
export async function endOpenAttempts(temporal: Client, conversationId: string): Promise<void> {
  const pending = async () => {
    const { raw } = await temporal.workflow.getHandle(turnWorkflowId(conversationId)).describe();
    return raw.pendingActivities?.[0];
  };
  const running = await pending();
  const attempt = running?.attempt ?? 0;
  await releaseWork(temporal, running?.lastWorkerIdentity ?? '', { conversationId, isHeld: true });
  await waitUntil('the next attempt has begun', async () => {
    const next = await pending();
    return (next?.attempt ?? 0) > attempt && next?.state === running?.state;
  });
}
