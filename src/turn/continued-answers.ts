import type { Unfinished } from './activity-values.ts';
import type { TurnProgress } from './carry-over.ts';

/** Whether another step follows an unfinished answer; what the vendor paused goes on as long as the turn may. */
export function isContinued(progress: TurnProgress, reason: Unfinished | undefined): boolean {
  if (reason === undefined) return false;
  const times = progress.continued?.reason === reason ? progress.continued.times : 0;
  const once = reason === 'call_missing' || reason === 'output_invalid';
  const most = once ? 1 : progress.settings.loopLimits.continuations;
  if (times >= most && reason !== 'answer_paused') return false;
  progress.continued = { reason, times: times + 1 };
  return true;
}
