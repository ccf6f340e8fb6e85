import { recordEvent } from '../store/events.ts';
import type { CallModelInput } from '../turn/activity-values.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { recordWait } from './refusal-wait.ts';
import type { CallingActivity } from './refusal-wait.ts';
import type { GateCall, GatePass } from './provider-gate.ts';

/** Asks for leave to call a provider. While the turn has to wait for it, the timeline says so. */
export async function passGate(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  { activity, ...call }: Omit<GateCall, 'conversationId' | 'onLongWait'> & { readonly activity: CallingActivity },
): Promise<GatePass> {
  let told = false;
  const pass = await dependencies.providerGate.enter({
    ...call,
    conversationId: turn.conversationId,
    async onLongWait(delayMilliseconds) {
      await recordWait(dependencies, turn, { activity, delayMilliseconds });
      told = true;
    },
  });
  dependencies.reachCrashPoint(`${activity}:queued`);
  if (pass.kind === 'wait') await recordWait(dependencies, turn, { activity, ...pass });
  // No event tells of the begin of these calls.
  else if (told) await recordEvent(dependencies.database, { turn, kind: 'turn_wait_over', data: {} });
  return pass;
}

/** Names a model call in the queue. Not by its number: a call that comes back from a wait in the workflow has another one, and would leave its place behind. */
export function queueKeyOf({ turn, steps, headEntryId }: CallModelInput, provider: string): string {
  return `${turn.turnId}:${steps ?? headEntryId}:${provider}`;
}
