import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { recordWait } from './model-failure.ts';
import type { GateCall, GatePass } from './provider-gate.ts';

/** Asks for leave to call a provider. When the turn has to wait for it, the timeline says so. */
export async function passGate(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  call: Omit<GateCall, 'conversationId'>,
): Promise<GatePass> {
  const pass = await dependencies.providerGate.enter({ ...call, conversationId: turn.conversationId });
  if (pass.kind === 'wait') await recordWait(dependencies, turn, pass.delayMilliseconds);
  return pass;
}
