import { condition } from '@temporalio/workflow';
import type { TurnProgress } from '../turn/carry-over.ts';

/** Reasons of the outcome `budget_exhausted`. */
type TimeLimit = 'wall_time_limit' | 'conversation_wall_time_limit' | 'idle_time_limit';

/** The turn got on: the model answered, a tool ended, a summary was written. */
export function noteNews({ clock }: TurnProgress): void {
  if (clock !== undefined) clock.newsAt = Date.now();
}

/** Waits for people count neither as time of the turn nor as idleness. */
export async function outsideTime(progress: TurnProgress, wait: () => Promise<void>): Promise<void> {
  const { clock } = progress;
  if (clock === undefined) return wait();
  clock.waitingSince = Date.now();
  try {
    await wait();
  } finally {
    clock.waited += Date.now() - clock.waitingSince;
    clock.newsAt = Date.now();
    delete clock.waitingSince;
  }
}

/** Calls `reached` once a limit of time is reached, while the turn works or waits; ends with `close`. One timer at a time, none without such a limit. */
export function watchTimeLimits(
  progress: TurnProgress,
  reached: (limit: TimeLimit) => void,
): { readonly close: () => void; readonly ended: Promise<void> } {
  const { limits, conversationRest } = progress;
  const limited = [limits?.turn.wallTime, limits?.idleTime, conversationRest?.wallTime];
  if (limited.every((limit) => limit === undefined)) return { close: () => undefined, ended: Promise.resolve() };
  const clock = (progress.clock ??= { begunAt: Date.now(), newsAt: Date.now(), waited: 0 });
  let closed = false;
  const watch = async (): Promise<void> => {
    for (;;) {
      await condition(() => closed || clock.waitingSince === undefined);
      if (closed) return;
      const { limit, due } = nextDue(progress);
      if (due <= Date.now()) {
        reached(limit);
        return;
      }
      await condition(() => closed || clock.waitingSince !== undefined, due - Date.now(), { summary: 'limit of time' });
    }
  };
  return {
    close: () => {
      closed = true;
    },
    ended: watch(),
  };
}

/** The first limit that will be reached; of several at once the turn's own. */
function nextDue({ limits, conversationRest, clock }: TurnProgress): {
  readonly limit: TimeLimit;
  readonly due: number;
} {
  const worked = (clock?.begunAt ?? 0) + (clock?.waited ?? 0);
  const after = (since: number, seconds = Infinity): number => since + seconds * 1_000;
  const all = [
    { limit: 'wall_time_limit', due: after(worked, limits?.turn.wallTime) },
    { limit: 'conversation_wall_time_limit', due: after(worked, conversationRest?.wallTime) },
    { limit: 'idle_time_limit', due: after(clock?.newsAt ?? 0, limits?.idleTime) },
  ] as const;
  return all.reduce((first, next) => (next.due < first.due ? next : first));
}
