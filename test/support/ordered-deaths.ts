import { expect } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../../src/activities/create-activities.ts';
import type { CrashPoint } from '../../src/activities/runtime/crash-points.ts';
import type { Database } from '../../src/store/database/database.ts';
import type { ActivityObserver } from '../../src/worker/start-worker.ts';
import type { TurnHarness } from './turn-harness.ts';
import { waitUntil } from './wait-until.ts';

export interface OrderedDeath {
  readonly at: CrashPoint;
  /** Runs while no worker does: behind the death before this one, or before the first activity. */
  readonly before?: () => Promise<unknown>;
}

/** Milliseconds; a worker that does not get to its point by then will not. */
const PATIENCE = 200_000;

/**
 * Starts workers that die one after the other, each at the first arrival at its point, within this process, which lives on; returns
 * when the last one, which stays, is at work. As after SIGKILL nothing more of a dead one reaches Postgres or Temporal, its
 * successor begins with empty memory, and Temporal calls again what was under way. What a SIGKILL does besides is shown with real
 * ones in `redeploy.test.ts`.
 */
export async function dieInOrder(harness: TurnHarness, deaths: readonly (OrderedDeath | CrashPoint)[]): Promise<void> {
  const { observer, outstanding } = orderedDeaths(
    deaths.map((death) => (typeof death === 'string' ? { at: death } : death)),
  );
  await harness.startWorker({ observer });
  const isOver = (): boolean => outstanding().length === 0;
  // What has not been reached tells more than that time is over.
  await waitUntil('each has died', isOver, PATIENCE).catch(() => expect(outstanding()).toEqual([]));
}

function orderedDeaths(deaths: readonly OrderedDeath[]): {
  readonly observer: ActivityObserver;
  /** Points of the workers that have not died yet. */
  readonly outstanding: () => readonly CrashPoint[];
} {
  let done = 0;
  const observer: ActivityObserver = (make) => {
    const bringUp = (): { readonly life: Life; readonly activities: Activities } => {
      const life: Life = { isOver: false };
      const reached = (point: CrashPoint): void => {
        if (life.isOver || deaths[done]?.at !== point) return;
        life.isOver = true;
        done += 1;
        worker = prepareNext();
        throw new Error(`the worker died at ${point}`);
      };
      return { life, activities: make({ database: (database) => databaseOfLife(database, life), reached }) };
    };
    const prepareNext = async () => {
      await deaths[done]?.before?.();
      return bringUp();
    };
    // Made now for the names of the activities, and for nothing else: the first one to serve comes behind its `before`.
    const { activities } = bringUp();
    let worker = prepareNext();
    const served = Object.keys(activities).map((name) => [
      name,
      async (input: never): Promise<unknown> => {
        const { life, activities: current } = await worker;
        try {
          const result = await current[name as keyof Activities](input);
          if (!life.isOver) return result;
        } catch (error) {
          if (!life.isOver) throw error;
        }
        // As late as the next heartbeat, and not after the pause of a failure.
        throw ApplicationFailure.create({ message: 'the worker is dead', nextRetryDelay: 1 });
      },
    ]);
    return Object.fromEntries(served) as Activities;
  };
  return { observer, outstanding: () => deaths.slice(done).map(({ at }) => at) };
}

export interface Life {
  isOver: boolean;
}

/** The database as a worker has it: after its death no query of it begins any more. */
export function databaseOfLife(database: Database, life: Life): Database {
  const requireLife = (): void => {
    if (life.isOver) throw new Error('the worker is dead');
  };
  return new Proxy(database, {
    apply(target, self: unknown, values: unknown[]) {
      requireLife();
      return Reflect.apply(target, self, values) as unknown;
    },
    get(target, name) {
      if (name === 'begin') requireLife();
      return Reflect.get(target, name) as unknown;
    },
  });
}
