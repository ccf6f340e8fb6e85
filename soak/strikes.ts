import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { GuardedProcess } from '../src/local/guarded-process.ts';
import type { Database } from '../src/store/database.ts';
import { exposureOf, harmless, losesHeartbeat, readSummariesThroughRestart } from './exposure.ts';
import type { Exposure, Look } from './exposure.ts';
import { readOpenActivities } from './open-work.ts';
import type { OpenActivity } from './open-work.ts';
import { orderPoints } from './points.ts';
import type { CompactionStrikes, PointOrder } from './points.ts';
import { signalAll } from './processes.ts';
import type { Random } from './random.ts';
import type { Server, Servers } from './servers.ts';
import { SHUTDOWN_GRACE_MILLISECONDS } from './workers.ts';
import type { RunningWorker, WorkerPlace } from './workers.ts';

/** Weights: toward the moments between two writes. */
export const KINDS = [
  ['worker_crash_point', 45],
  ['worker_kill', 12],
  ['worker_freeze', 10],
  ['worker_restart', 6],
  ['postgres_kill', 8],
  ['postgres_freeze', 3],
  ['postgres_restart', 3],
  ['temporal_kill', 7],
  ['temporal_freeze', 3],
  ['temporal_restart', 3],
] as const;

export type StrikeKind = (typeof KINDS)[number][0];

/** Longest time that a server stays away, milliseconds. */
const LONGEST_AWAY = 2_000;
/** After an order was withdrawn: who has read it before dies within this, milliseconds. */
const LATE_DEATH = 250;
/** Between two looks at what a frozen worker is given; well below the heartbeat timeout, after which it is another's. */
const LOOK_INTERVAL = 1_000;
/** Of the grace that a worker has to end its work: what it has not done this long before is not judged. */
const GRACE_MARGIN = 1_000;

export interface Strike {
  readonly kind: StrikeKind;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Activities that were open where it struck. */
  readonly hit: readonly OpenActivity[];
}

/** A strike, and what it took away: known only when it is over. */
export interface Struck extends Strike {
  readonly exposed: Promise<Exposure>;
}

export interface Battlefield {
  readonly servers: Servers;
  readonly places: readonly WorkerPlace[];
  readonly temporal: Client;
  readonly database: Database;
  /** Decides what this strike does. */
  readonly random: Random;
  /** Conversations whose activities count. */
  readonly conversations: () => readonly string[];
  /** Longest time that a process stays frozen, milliseconds. */
  readonly longestFreeze: number;
  /** Crash point to which strikes are restricted; `null`: all kinds. */
  readonly at: string | null;
  readonly kinds: StrikeWeights;
  /** Whether one of the strikes before hit an activity of a compaction. */
  readonly compaction: CompactionStrikes;
}

export type StrikeWeights = readonly (readonly [kind: StrikeKind, weight: number])[];

/**
 * Strikes once and repairs what it took away. @returns `null` when it would have hit nothing
 */
export async function strike(field: Battlefield): Promise<Struck | null> {
  const chosen = field.at === null && field.compaction !== 'owed';
  const kind = chosen ? field.random.weighted(field.kinds) : 'worker_crash_point';
  switch (kind) {
    case 'worker_crash_point':
      return killAtPoint(field);
    case 'worker_kill':
    case 'worker_freeze':
    case 'worker_restart':
      return strikeWorker(field, kind);
    case 'postgres_kill':
    case 'postgres_freeze':
    case 'postgres_restart':
      return strikeServer(field, kind, field.servers.postgres);
    case 'temporal_kill':
    case 'temporal_freeze':
    case 'temporal_restart':
      return strikeServer(field, kind, field.servers.temporal);
  }
}

function pickWorker({ places, random }: Battlefield): RunningWorker | null {
  const running = places.flatMap((place) => place.current() ?? []);
  return running.length === 0 ? null : random.pick(running);
}

async function killAtPoint(field: Battlefield): Promise<Struck | null> {
  const { random, at, conversations, compaction } = field;
  const worker = pickWorker(field);
  if (worker === null) return null;
  const order = orderPoints(random, { conversations: conversations().length, at, compaction });
  if (!(await diesByOrder(worker, order))) return null;
  const struckAt = Date.now();
  const look = await lookOn(field, worker);
  const exposed = Promise.resolve(exposureOf(struckAt, [look], struckAt));
  return { kind: 'worker_crash_point', at: struckAt, hit: look.activities, exposed };
}

/** Whether a worker dies by an order, also by one that it had read just before it was withdrawn. */
export async function diesByOrder(
  worker: Pick<RunningWorker, 'order' | 'withdrawOrder'> & { readonly process: Pick<GuardedProcess, 'exited'> },
  { points, patience }: PointOrder,
): Promise<boolean> {
  await worker.order(points);
  const dies = worker.process.exited.then(() => true);
  const died = await Promise.race([dies, delay(patience, false)]);
  await worker.withdrawOrder();
  return died || Promise.race([dies, delay(LATE_DEATH, false)]);
}

/** What a worker works on, as Temporal tells. */
async function lookOn(field: Battlefield, worker: RunningWorker): Promise<Look> {
  const { activities, summaries } = await lookAround(field);
  return { activities: activities.filter(({ workerIdentity }) => workerIdentity === worker.identity), summaries };
}

async function lookAround({ temporal, database, conversations }: Battlefield): Promise<Look> {
  const [activities, summaries] = await Promise.all([
    readOpenActivities(temporal, conversations()),
    readSummariesThroughRestart(database),
  ]);
  return { activities, summaries };
}

async function strikeWorker(
  field: Battlefield,
  kind: 'worker_kill' | 'worker_freeze' | 'worker_restart',
): Promise<Struck | null> {
  const worker = pickWorker(field);
  if (worker === null) return null;
  // Frozen while we look, so that what is seen open is what is hit.
  worker.process.kill('SIGSTOP');
  const at = Date.now();
  try {
    const look = await lookOn(field, worker);
    const { activities: hit } = look;
    if (hit.length === 0) return null;
    if (kind === 'worker_kill') worker.process.kill('SIGKILL');
    if (kind === 'worker_restart') worker.process.kill('SIGTERM');
    const frozen = field.random.between(500, field.longestFreeze);
    const during = kind === 'worker_freeze' ? await looksDuring(frozen, () => lookOn(field, worker)) : [];
    switch (kind) {
      case 'worker_kill':
        return { kind, at, hit, exposed: Promise.resolve(exposureOf(at, [look])) };
      case 'worker_restart':
        return { kind, at, hit, exposed: exposedByShutdown(field, worker, at) };
      case 'worker_freeze':
        return {
          kind,
          at,
          hit,
          exposed: Promise.resolve(await exposedByFreeze(at, [look, ...during], () => lookOn(field, worker))),
        };
    }
  } finally {
    worker.process.kill('SIGCONT');
  }
}

/** What its worker has not ended shortly before its grace is over: all else must have been ended in it. */
async function exposedByShutdown(field: Battlefield, worker: RunningWorker, at: number): Promise<Exposure> {
  const patience = SHUTDOWN_GRACE_MILLISECONDS - GRACE_MARGIN;
  const ended = await Promise.race([worker.process.exited.then(() => true), delay(patience, false)]);
  if (ended) return harmless(at);
  const look = await lookOn(field, worker);
  await worker.process.exited;
  return exposureOf(at, [look]);
}

/**
 * What a frozen worker is given meanwhile, it begins when it wakes up. Looked for again and again: at the end Temporal may have
 * taken it for lost and given it to another one already.
 */
export async function looksDuring(milliseconds: number, lookAgain: () => Promise<Look>): Promise<readonly Look[]> {
  const end = Date.now() + milliseconds;
  const looks: Look[] = [];
  for (let left = milliseconds; left > 0; left = end - Date.now()) {
    await delay(Math.min(LOOK_INTERVAL, left));
    if (losesHeartbeat(milliseconds) && Date.now() < end) looks.push(await lookAgain());
  }
  return looks;
}

/** Looks once more before the end. */
async function exposedByFreeze(at: number, looks: readonly Look[], lookAgain: () => Promise<Look>): Promise<Exposure> {
  if (!losesHeartbeat(Date.now() - at)) return harmless(at);
  return exposureOf(at, [...looks, await lookAgain()]);
}

async function strikeServer(field: Battlefield, kind: StrikeKind, server: Server): Promise<Struck | null> {
  const { places, random, longestFreeze } = field;
  const workers = places.flatMap((place) => place.current()?.process.processId ?? []);
  signalAll(workers, 'SIGSTOP');
  const at = Date.now();
  let before: Look;
  let ids: readonly number[];
  try {
    before = await lookAround(field);
    if (before.activities.length === 0) return null;
    ids = await server.processIds();
    if (kind.endsWith('_kill')) signalAll(ids, 'SIGKILL');
    if (kind.endsWith('_freeze')) signalAll(ids, 'SIGSTOP');
  } finally {
    signalAll(workers, 'SIGCONT');
  }
  if (kind.endsWith('_restart')) await server.stop();
  await delay(random.between(0, kind.endsWith('_freeze') ? longestFreeze : LONGEST_AWAY));
  if (kind.endsWith('_freeze')) signalAll(ids, 'SIGCONT');
  else await server.start();
  const lookAgain = (): Promise<Look> => lookAround(field);
  const exposed = kind.endsWith('_freeze')
    ? exposedByFreeze(at, [before], lookAgain)
    : lookAgain().then((after) => exposureOf(at, [before, after]));
  return { kind, at, hit: before.activities, exposed };
}
