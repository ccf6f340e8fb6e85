import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { recordWait } from './refusal-wait.ts';
import type { CallingActivity } from './refusal-wait.ts';
import type { GateCall, GatePass } from './provider-gate.ts';

/** Asks for leave to call a provider. When the turn has to wait for it, the timeline says so. */
export async function passGate(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  { activity, ...call }: Omit<GateCall, 'conversationId'> & { readonly activity: CallingActivity },
): Promise<GatePass> {
  const pass = await dependencies.providerGate.enter({ ...call, conversationId: turn.conversationId });
  dependencies.reachCrashPoint(`${activity}:queued`);
  if (pass.kind === 'wait') await recordWait(dependencies, turn, { activity, ...pass });
  return pass;
}
