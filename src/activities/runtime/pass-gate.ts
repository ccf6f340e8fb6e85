import { recordEvent } from '../../store/log/events.ts';
import type { CallModelInput } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { recordWait, waitOut } from './refusal-wait.ts';
import type { CallingActivity, WaitOut } from './refusal-wait.ts';
import type { GateCall, GatePass, OpenPass } from './provider-gate.ts';

/** Asks for leave to call a provider. While the turn has to wait for it, the timeline says so. */
export async function passGate(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  { activity, ...call }: Omit<GateCall, 'conversationId' | 'onLongWait'> & { readonly activity: CallingActivity },
): Promise<OpenPass | WaitOut> {
  let told = false;
  const pass = await enterGate(dependencies, turn, {
    ...call,
    async onLongWait(wait) {
      await recordWait(dependencies, turn, { ...wait, activity, provider: call.provider, holdsWorker: true });
      told = true;
    },
  });
  dependencies.reachCrashPoint(`${activity}:queued`);
  if (pass.kind === 'wait') {
    const { reason, delayMilliseconds } = pass;
    return waitOut(dependencies, turn, { activity, reason, delayMilliseconds, provider: call.provider });
  }
  // No event tells of the begin of these calls.
  if (told) await recordEvent(dependencies.database, { turn, kind: 'turn_wait_over', data: {} });
  return pass;
}

/** Waits up to 10 s, but no longer than the call is this worker's: one whose turn or activity another worker has is not made. */
export async function enterGate(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  call: Omit<GateCall, 'conversationId'>,
): Promise<GatePass> {
  const { callKey, by } = call;
  const { runId, activityId, attempt } = by;
  const fence = dependencies.fenceWatch.watch({ kind: 'waiting_call', turn, callKey, runId, activityId, attempt });
  try {
    return await dependencies.providerGate.enter({
      ...call,
      conversationId: turn.conversationId,
      signal: AbortSignal.any([call.signal, fence.signal]),
    });
  } catch (error) {
    fence.signal.throwIfAborted();
    throw error;
  } finally {
    fence.end();
  }
}

/** Names a model call in the queue. Not by its number: a call that comes back from a wait in the workflow has another one, and would leave its place behind. */
export function queueKeyOf({ turn, steps, headEntryId }: CallModelInput, provider: string): string {
  return `${turn.turnId}:${steps ?? headEntryId}:${provider}`;
}
