import { condition } from '@temporalio/workflow';
import type { TurnProgress } from '../turn/carry-over.ts';

/** Reasons of the outcome `budget_exhausted`. */
type TimeLimit = 'wall_time_limit' | 'idle_time_limit';

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
  const { limits } = progress;
  if (limits?.turn.wallTime === undefined && limits?.idleTime === undefined) {
    return { close: () => undefined, ended: Promise.resolve() };
  }
  const clock = (progress.clock ??= { begunAt: Date.now(), newsAt: Date.now(), waited: 0 });
  // What an earlier run of the turn was still waiting for is over.
  clock.newsAt = Date.now();
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

function nextDue({ limits, clock }: TurnProgress): { readonly limit: TimeLimit; readonly due: number } {
  const wall = (clock?.begunAt ?? 0) + (clock?.waited ?? 0) + (limits?.turn.wallTime ?? Infinity) * 1_000;
  const idle = (clock?.newsAt ?? 0) + (limits?.idleTime ?? Infinity) * 1_000;
  return wall <= idle ? { limit: 'wall_time_limit', due: wall } : { limit: 'idle_time_limit', due: idle };
}
