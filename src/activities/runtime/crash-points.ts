import { readFileSync } from 'node:fs';

/**
 * Named places where a worker can be made to die, to show and to test that nothing is lost there. Each stands
 * directly behind a write of its activity; an activity without one writes nothing.
 */
const AFTER_WRITES = {
  beginTurn: ['written'],
  continueTurn: ['written'],
  // Reads only, so a worker that dies in it leaves what one that dies just before it leaves: the retry reads again.
  lookForStop: [],
  readTimeLeft: [],
  compactContext: ['messages-taken', 'limit-noted', 'planned', 'declined', 'fell-back', 'exhausted'],
  askHooks: ['planned', 'declined', 'cancelled', 'skipped'],
  summarize: ['queued', 'registered', 'stored', 'failed', 'withdrawn', 'waiting'],
  commitCompaction: ['written', 'logged', 'replanned', 'ended', 'noted', 'limit-noted'],
  callModel: [
    'queued',
    'registered',
    'stored',
    'calibrated',
    'noted',
    'failed',
    'window-learned',
    'waiting',
    'fell-back',
  ],
  requestDecisions: ['written'],
  runTool: [
    'claimed',
    'given-back',
    'decided',
    'reclaimed',
    'output-kept',
    'memory-written',
    'pieces-written',
    'stored',
    'outcome-unknown',
  ],
  endTurn: ['written'],
  changeBranch: ['queued', 'registered', 'failed', 'withdrawn', 'written', 'refused', 'waiting'],
} as const;

/** Places where something has happened outside the database that no row tells of yet. */
const BETWEEN_WRITES = {
  summarize: ['answered'],
  callModel: ['answered'],
  runTool: ['finished'],
  changeBranch: ['answered'],
} as const;

type Named<Places extends Readonly<Record<string, readonly string[]>>> = {
  [Activity in keyof Places & string]: `${Activity}:${Places[Activity][number]}`;
}[keyof Places & string];

export type CrashPoint = Named<typeof AFTER_WRITES> | Named<typeof BETWEEN_WRITES>;

function named(places: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(places).flatMap(([activity, names]) => names.map((name) => `${activity}:${name}`));
}

/** The activities whose writes are named. */
export const ACTIVITIES_OF_CRASH_POINTS: readonly string[] = Object.keys(AFTER_WRITES);

/** All points that stand behind a write. */
const CRASH_POINTS_AFTER_WRITES = named(AFTER_WRITES);

/** All points. */
export const CRASH_POINTS = [...CRASH_POINTS_AFTER_WRITES, ...named(BETWEEN_WRITES)];

/** Behind the activity's name: whichever of its points behind a write comes first. */
const AFTER_WRITE = ':after-write';

/** Called at each named place; returns unless this is where the process was told to die. */
export type ReachCrashPoint = (point: CrashPoint) => void;

interface CrashOrder {
  readonly points: ReadonlySet<string>;
  /** Arrivals that are still to come, this one included. */
  remaining: number;
}

/**
 * Off unless told. `HOLDFAST_CRASH_POINTS` orders from the start: `runTool:claimed@8` kills the process with SIGKILL at
 * the eighth arrival, `summarize:answered` at the first, `commitCompaction:after-write` after whichever write of that
 * activity comes first; several are separated by commas. `HOLDFAST_CRASH_ORDERS` names a file that may be written while
 * the process runs: from then on the points in it kill at their next arrival.
 *
 * @param setting value of `HOLDFAST_CRASH_POINTS`; empty or absent: none.
 * @param orderFile value of `HOLDFAST_CRASH_ORDERS`; empty or absent: none.
 * @throws RangeError naming an unknown point or a count that is no positive integer.
 */
export function parseCrashPoints(setting: string | undefined, orderFile?: string): ReachCrashPoint {
  const orders = parseOrders(setting ?? '');
  const readsFile = orderFile !== undefined && orderFile !== '';
  return (point) => {
    const due = orders.filter((order) => order.points.has(point));
    for (const order of due) order.remaining -= 1;
    const isOrdered =
      due.some((order) => order.remaining === 0) ||
      (readsFile && parseOrders(readOrders(orderFile)).some((order) => order.points.has(point)));
    // SIGKILL to oneself: nothing of the process, not even an exit handler, can run after it.
    if (isOrdered) process.kill(process.pid, 'SIGKILL');
  };
}

function readOrders(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Nobody has ordered anything yet.
    return '';
  }
}

function parseOrders(setting: string): CrashOrder[] {
  const items = setting.split(',').filter((text) => text.trim() !== '');
  return items.map((item) => {
    const [name = '', count = '1'] = item.trim().split('@');
    const points = pointsNamed(name);
    if (points.length > 0 && /^[1-9]\d*$/.test(count)) return { points: new Set(points), remaining: Number(count) };
    throw new RangeError(
      `HOLDFAST_CRASH_POINTS: "${item}" is not a crash point; use <point> or <point>@<arrival>, points: ${CRASH_POINTS.join(', ')}, or <activity>${AFTER_WRITE}`,
    );
  });
}

/** The points that a name stands for; none for a name that is unknown. */
export function pointsNamed(name: string): readonly string[] {
  if (!name.endsWith(AFTER_WRITE)) return CRASH_POINTS.filter((known) => known === name);
  const activity = name.slice(0, -AFTER_WRITE.length);
  return CRASH_POINTS_AFTER_WRITES.filter((known) => known.startsWith(`${activity}:`));
}
