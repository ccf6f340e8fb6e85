import { readFileSync } from 'node:fs';
import { Context } from '@temporalio/activity';
import type { Database } from '../../store/database/database.ts';
import { observeWrites } from './observe-writes.ts';

/** Points of an activity between two of its commits: something happened outside the database that no row shows yet. */
export type CrashPoint = 'answered' | 'finished' | 'logged';

const CRASH_POINT = /^[a-z]+:(?:write|answered|finished|logged)$/iu;

/** For messages to people. */
export const CRASH_POINT_FORMS =
  '<activity>:write, summarize:answered, callModel:answered, runTool:finished, commitCompaction:logged';

export function isCrashPoint(name: string): boolean {
  return CRASH_POINT.test(name);
}

/** Called at each point between two commits. Returns unless the process was ordered to die there. */
export type ReachCrashPoint = (point: CrashPoint) => void;

/** Where a test may kill a worker: behind each commit of its activities, and at the points between two. */
export interface CrashPoints {
  /** Wraps the pool of the activities. */
  readonly database: (database: Database) => Database;
  readonly reached: ReachCrashPoint;
}

interface CrashOrder {
  readonly point: string;
  /** Arrivals until the kill, this one included. */
  remaining: number;
}

/**
 * Off unless ordered. `HOLDFAST_CRASH_POINTS` orders from the start: `runTool:write@8` kills the process with SIGKILL behind the eighth
 * commit of that activity, `summarize:answered` at the first arrival. Commas separate several. `HOLDFAST_CRASH_ORDERS` names a file that
 * may be written while the process runs: its points kill at their next arrival.
 * @param setting value of `HOLDFAST_CRASH_POINTS`; empty or absent: none.
 * @param orderFile value of `HOLDFAST_CRASH_ORDERS`; empty or absent: none.
 * @throws RangeError naming what is no point or a count that is no positive integer.
 */
export function orderedCrashPoints(setting = '', orderFile = ''): CrashPoints {
  const orders = parseOrders(setting);
  if (orders.length === 0 && orderFile === '') return { database: (database) => database, reached: () => undefined };
  const reached = (here: CrashPoint | 'write'): void => {
    const point = `${activityName()}:${here}`;
    const due = orders.filter((order) => order.point === point);
    for (const order of due) order.remaining -= 1;
    const isOrdered =
      due.some(({ remaining }) => remaining === 0) ||
      (orderFile !== '' && parseOrders(readOrders(orderFile)).some((order) => order.point === point));
    // SIGKILL, because then nothing of the process can run, not even an exit handler.
    if (isOrdered) process.kill(process.pid, 'SIGKILL');
  };
  return { reached, database: (database) => observeWrites(database, () => reached('write')) };
}

/** The activity whose code runs. */
export function activityName(): string {
  return Context.current().info.activityType;
}

function readOrders(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // No order was given yet.
    return '';
  }
}

function parseOrders(setting: string): CrashOrder[] {
  const items = setting.split(',').filter((text) => text.trim() !== '');
  return items.map((item) => {
    const [point = '', count = '1'] = item.trim().split('@');
    if (isCrashPoint(point) && /^[1-9]\d*$/.test(count)) return { point, remaining: Number(count) };
    throw new RangeError(
      `HOLDFAST_CRASH_POINTS: "${item}" is not a crash point; use <point> or <point>@<arrival>, points: ${CRASH_POINT_FORMS}`,
    );
  });
}
