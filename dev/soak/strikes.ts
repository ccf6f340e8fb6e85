import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import type { GuardedProcess } from '../../src/local/guarded-process.ts';
import { signalProcess } from '../../src/local/process-signals.ts';
import { readOpenActivities } from './open-work.ts';
import type { OpenActivity } from './open-work.ts';
import { persist } from './persist.ts';
import type { SeededRandom } from '../random.ts';
import type { Server, Servers } from './servers.ts';
import type { Interval } from './suspects.ts';
import type { RunningWorker, WorkerPlace } from './workers.ts';

/** How often each kind is chosen, mostly the deaths between two writes. */
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
export type StrikeWeights = readonly (readonly [kind: StrikeKind, weight: number])[];

/** Points that every conversation reaches often. */
const COMMON_POINTS = [
  'beginTurn:write',
  'continueTurn:write',
  'compactContext:write',
  'requestDecisions:write',
  'callModel:write',
  'callModel:answered',
  'runTool:write',
  'runTool:finished',
  'endTurn:write',
];
/** Points that an order for `COMMON_POINTS` names: the first to be reached counts. */
const POINTS_PER_ORDER = 5;
const COMPACTION_POINTS = ['compactContext:write', 'summarize:write', 'summarize:answered', 'commitCompaction:write'];
/** Milliseconds that a worker is given to reach a point of its order; a compaction comes every few steps only. */
const ORDER_PATIENCE = { common: 4_000, compaction: 20_000 };
/** Milliseconds after an order was withdrawn in which a worker that has read it before dies. */
const LATE_DEATH = 250;
/** Longest time that a server stays away, milliseconds. */
const LONGEST_AWAY = 2_000;

export interface Strike {
  readonly kind: StrikeKind;
  /** When it took away what it hit. Milliseconds since 1970. */
  readonly at: number;
  /** Activities and workflow tasks that were open where it struck. */
  readonly hit: readonly OpenActivity[];
  /** From its first act until what it struck was gone for good or back. */
  readonly lasted: Promise<Interval>;
}

export interface Battlefield {
  readonly servers: Servers;
  readonly places: readonly WorkerPlace[];
  readonly temporal: Client;
  /** Decides what this strike does. */
  readonly random: SeededRandom;
  /** Conversations whose activities count. */
  readonly conversations: () => readonly string[];
  /** Longest time that a process stays frozen, milliseconds. */
  readonly longestFreeze: number;
  /** Whether this strike is a death in a compaction, which chance alone would seldom choose. */
  readonly inCompaction: boolean;
  /** Crash point to which strikes are restricted; `null`: all kinds. */
  readonly at: string | null;
  readonly kinds: StrikeWeights;
}

/** Strikes once and repairs what it took away. @returns `null` when it would have hit nothing */
export async function strike(field: Battlefield): Promise<Strike | null> {
  if (field.at !== null || field.inCompaction) return killAtPoint(field);
  const kind = field.random.weighted(field.kinds);
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

export interface PointOrder {
  /** As `HOLDFAST_CRASH_ORDERS` takes them. */
  readonly points: string;
  /** A point that is not reached by then is given up, milliseconds. */
  readonly patience: number;
}

function orderPoints({ random, at, inCompaction }: Battlefield): PointOrder {
  if (at !== null) return { points: at, patience: ORDER_PATIENCE.common };
  if (inCompaction) return { points: COMPACTION_POINTS.join(','), patience: ORDER_PATIENCE.compaction };
  const points = Array.from({ length: POINTS_PER_ORDER }, () => random.pick(COMMON_POINTS));
  return { points: points.join(','), patience: ORDER_PATIENCE.common };
}

async function killAtPoint(field: Battlefield): Promise<Strike | null> {
  const worker = pickWorker(field);
  if (worker === null) return null;
  const since = Date.now();
  if (!(await diesByOrder(worker, orderPoints(field)))) return null;
  const at = Date.now();
  return { kind: 'worker_crash_point', at, hit: await workOf(field, worker), lasted: lasting(since) };
}

/** Until now, or until something has ended. */
async function lasting(since: number, ends: Promise<unknown> = Promise.resolve()): Promise<Interval> {
  await ends;
  return { since, until: Date.now() };
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
async function workOf(field: Battlefield, worker: RunningWorker): Promise<readonly OpenActivity[]> {
  const activities = await openWork(field);
  return activities.filter(({ workerIdentity }) => workerIdentity.startsWith(worker.identity));
}

/** A server that was struck needs a moment to answer. */
function openWork({ temporal, conversations }: Battlefield): Promise<readonly OpenActivity[]> {
  return persist(() => readOpenActivities(temporal, conversations()));
}

async function strikeWorker(
  field: Battlefield,
  kind: 'worker_kill' | 'worker_freeze' | 'worker_restart',
): Promise<Strike | null> {
  const worker = pickWorker(field);
  if (worker === null) return null;
  const at = Date.now();
  // Frozen while we look, so that what is seen open is what is hit.
  worker.process.kill('SIGSTOP');
  let hit: readonly OpenActivity[] = [];
  try {
    hit = await workOf(field, worker);
    if (hit.length === 0) return null;
    if (kind === 'worker_kill') worker.process.kill('SIGKILL');
    if (kind === 'worker_restart') worker.process.kill('SIGTERM');
    if (kind === 'worker_freeze') await delay(field.random.between(500, field.longestFreeze));
  } finally {
    worker.process.kill('SIGCONT');
  }
  return { kind, at, hit, lasted: lasting(at, kind === 'worker_freeze' ? undefined : worker.process.exited) };
}

async function strikeServer(field: Battlefield, kind: StrikeKind, server: Server): Promise<Strike | null> {
  const { places, random, longestFreeze } = field;
  const workers = places.flatMap((place) => place.current()?.process.processId ?? []);
  const at = Date.now();
  signalAll(workers, 'SIGSTOP');
  let hit: readonly OpenActivity[];
  let ids: readonly number[];
  try {
    hit = await openWork(field);
    if (hit.length === 0) return null;
    ids = await withChildren(server.processId());
    if (kind.endsWith('_kill')) signalAll(ids, 'SIGKILL');
    if (kind.endsWith('_freeze')) signalAll(ids, 'SIGSTOP');
  } finally {
    signalAll(workers, 'SIGCONT');
  }
  if (kind.endsWith('_restart')) await server.stop();
  await delay(random.between(0, kind.endsWith('_freeze') ? longestFreeze : LONGEST_AWAY));
  if (kind.endsWith('_freeze')) signalAll(ids, 'SIGCONT');
  else await server.start();
  // It is back when it answers.
  return { kind, at, hit, lasted: lasting(at, openWork(field)) };
}

async function withChildren(processId: number): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const children = stdout.split('\n').flatMap((line) => {
    const [child = 0, parent = 0] = line.trim().split(/\s+/u).map(Number);
    return parent === processId ? [child] : [];
  });
  return [processId, ...children];
}

function signalAll(processIds: readonly number[], signal: NodeJS.Signals): void {
  for (const processId of processIds) signalProcess(processId, signal);
}
