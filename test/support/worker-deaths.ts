import { ApplicationFailure } from '@temporalio/common';
import { activityName } from '../../src/activities/runtime/crash-points.ts';
import type { Activities } from '../../src/activities/create-activities.ts';
import type { Database } from '../../src/store/database/database.ts';
import { observeWrites } from '../../src/activities/runtime/observe-writes.ts';
import type { ActivityObserver } from '../../src/worker/start-worker.ts';
import type { TurnHarness } from './turn-harness.ts';

/**
 * Starts workers that die one after the other within this process: each behind the first commit of a kind that no worker died behind, or at
 * a point between two commits. As after SIGKILL nothing more of a dead one reaches Postgres or Temporal, its successor begins with empty
 * memory, and Temporal calls again what was under way. `redeploy.test.ts` shows what a SIGKILL does besides.
 * @param between what happens while no worker runs, once, after the first death of a kind
 * @returns the kinds of the deaths, which grow: activity and commit, such as `callModel: insert entries, update turns`, in order
 */
export async function startDyingWorkers(
  harness: TurnHarness,
  between: readonly (readonly [kind: RegExp, act: () => Promise<unknown>])[] = [],
): Promise<readonly string[]> {
  const deaths: string[] = [];
  const planned = [...between];
  const observer: ActivityObserver = (make) => {
    const bringUp = (): { readonly life: Life; readonly activities: Activities } => {
      const life: Life = { isOver: false };
      const reached = (here: string): void => {
        const kind = `${activityName()}: ${here}`;
        if (life.isOver || deaths.includes(kind)) return;
        life.isOver = true;
        deaths.push(kind);
        worker = prepareNext(kind);
        throw new Error(`the worker died behind ${kind}`);
      };
      const database = (pool: Database): Database =>
        databaseOfLife(
          observeWrites(pool, (writes) => reached(writes.toSorted().join(', '))),
          life,
        );
      return { life, activities: make({ database, reached }) };
    };
    const prepareNext = async (kind: string) => {
      const next = planned.findIndex(([of]) => of.test(kind));
      if (next >= 0) for (const [, act] of planned.splice(next, 1)) await act();
      return bringUp();
    };
    const first = bringUp();
    let worker = Promise.resolve(first);
    const served = Object.keys(first.activities).map((name) => [
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
  await harness.startWorker({ observer });
  return deaths;
}

interface Life {
  isOver: boolean;
}

/** The database as a worker has it: after its death no query of it begins any more. */
function databaseOfLife(database: Database, life: Life): Database {
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

/**
 * A database as a worker has it that is killed behind a commit: from then on nothing reaches Postgres.
 * @param which commit it is: its number, or what it changes. Default: the first
 */
export function killedBehindWrite(
  database: Database,
  which: number | RegExp = 1,
): {
  readonly database: Database;
  /** Tables that the commit changed; none: there was no such commit. */
  readonly lastWrite: () => readonly string[];
} {
  let last: readonly string[] = [];
  let commits = 0;
  const life: Life = { isOver: false };
  const observed = observeWrites(database, (writes) => {
    commits += 1;
    if (life.isOver || !(typeof which === 'number' ? commits === which : which.test(writes.join(', ')))) return;
    life.isOver = true;
    last = [...new Set(writes.map((write) => write.split(' ')[1] ?? ''))];
    throw new Error('the worker died');
  });
  return { database: databaseOfLife(observed, life), lastWrite: () => last };
}
