import { isStopWaiting } from '../../store/messages/waiting.ts';
import type { OfTurn, StopLook } from '../../turn/activity-values.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/** Reads only, so a look that is repeated after a crash says the same. */
export async function lookForStop({ database }: ActivityDependencies, { turn }: OfTurn): Promise<StopLook> {
  return { stopRequested: await isStopWaiting(database, turn) };
}
