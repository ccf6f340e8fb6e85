import { readFileSync } from 'node:fs';

/**
 * Named points where tests can make a worker die, to show that nothing is lost there. Each is directly after a write of its activity. An
 * activity without points writes nothing.
 */
const AFTER_WRITES = {
  beginTurn: ['written'],
  continueTurn: ['written'],
  // Reads only. A worker that dies in it leaves the same as one that dies before it.
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
  runTool: ['claimed', 'decided', 'output-kept', 'memory-written', 'pieces-written', 'stored', 'outcome-unknown'],
  endTurn: ['written'],
  changeBranch: ['queued', 'registered', 'failed', 'withdrawn', 'written', 'refused', 'waiting'],
} as const;

/** Points where something happened outside the database that no row shows yet. */
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

export const ACTIVITIES_OF_CRASH_POINTS: readonly string[] = Object.keys(AFTER_WRITES);

const CRASH_POINTS_AFTER_WRITES = named(AFTER_WRITES);

export const CRASH_POINTS = [...CRASH_POINTS_AFTER_WRITES, ...named(BETWEEN_WRITES)];

/** After the activity's name: the first of its points after a write. */
const AFTER_WRITE = ':after-write';

/** Called at each named point. Returns unless the process was ordered to die there. */
export type ReachCrashPoint = (point: CrashPoint) => void;

interface CrashOrder {
  readonly points: ReadonlySet<string>;
  /** Arrivals until the kill, this one included. */
  remaining: number;
}

/**
 * Off unless ordered. `HOLDFAST_CRASH_POINTS` orders from the start: `runTool:claimed@8` kills the process with SIGKILL at the eighth
 * arrival, `summarize:answered` at the first, `commitCompaction:after-write` after the first write of that activity. Commas separate
 * several. `HOLDFAST_CRASH_ORDERS` names a file that may be written while the process runs: its points kill at their next arrival.
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
    // SIGKILL, because then nothing of the process can run, not even an exit handler.
    if (isOrdered) process.kill(process.pid, 'SIGKILL');
  };
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
    const [name = '', count = '1'] = item.trim().split('@');
    const points = pointsNamed(name);
    if (points.length > 0 && /^[1-9]\d*$/.test(count)) return { points: new Set(points), remaining: Number(count) };
    throw new RangeError(
      `HOLDFAST_CRASH_POINTS: "${item}" is not a crash point; use <point> or <point>@<arrival>, points: ${CRASH_POINTS.join(', ')}, or <activity>${AFTER_WRITE}`,
    );
  });
}

/** The points of a name; none if the name is unknown. */
export function pointsNamed(name: string): readonly string[] {
  if (!name.endsWith(AFTER_WRITE)) return CRASH_POINTS.filter((known) => known === name);
  const activity = name.slice(0, -AFTER_WRITE.length);
  return CRASH_POINTS_AFTER_WRITES.filter((known) => known.startsWith(`${activity}:`));
}
