import { readTimeUse } from '../../store/turns/time-use.ts';
import { readLimits } from '../../store/turns/turn-limits.ts';
import type { OfTurn, TimeLeft } from '../../turn/activity-values.ts';
import { nextTimeLimit } from '../../turn/spending.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/** Of a turn whose time is limited. */
export async function readTimeLeft({ database }: ActivityDependencies, { turn }: OfTurn): Promise<TimeLeft> {
  const [limits, used] = await Promise.all([readLimits(database, turn), readTimeUse(database, turn)]);
  const { reason, left } = nextTimeLimit(limits, used);
  return { reason, milliseconds: Math.max(0, Math.ceil(left * 1_000)) };
}
