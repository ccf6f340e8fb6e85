import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Database } from '../src/store/database.ts';
import { turnWorkflowId } from '../src/temporal/names.ts';
import { readOpenActivities, readOpenRows } from './open-work.ts';
import type { OpenActivity, OpenRow, OpenRows } from './open-work.ts';
import { signalAll } from './processes.ts';
import type { Random } from './random.ts';
import type { Server, Servers } from './servers.ts';
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

/** Points that every conversation reaches often enough to wait for one. */
const POINTS = [
  'beginTurn:written',
  'takeMessages:written',
  'compactContext:after-write',
  'summarize:after-write',
  'summarize:answered',
  'commitCompaction:after-write',
  'callModel:registered',
  'callModel:answered',
  'callModel:stored',
  'callModel:after-write',
  'runTool:claimed',
  'runTool:reclaimed',
  'runTool:finished',
  'runTool:stored',
  'endTurn:written',
];
/** Points that are ordered at once: the first to be reached counts. Few conversations reach few points in the time. */
const POINTS_PER_ORDER = { ofMany: 3, ofFew: 8 };
/** So many conversations are many. */
const MANY = 10;
/** A point that is not reached by then is given up, milliseconds. */
const POINT_PATIENCE = 4_000;
/** Longest time that a server stays away, milliseconds. */
const LONGEST_AWAY = 2_000;
const AFTERMATH_MILLISECONDS = [200, 1_000];
const AFTERMATH_ATTEMPTS = 40;
const AFTERMATH_PAUSE_MILLISECONDS = 100;

/** Workers that do nothing more once they are struck. */
const DIES_AT_ONCE: ReadonlySet<StrikeKind> = new Set(['worker_kill', 'worker_crash_point']);

export interface Strike {
  readonly kind: StrikeKind;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Activities that were open where it struck. */
  readonly hit: readonly OpenActivity[];
  readonly rows: OpenRows;
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
}

export type StrikeWeights = readonly (readonly [kind: StrikeKind, weight: number])[];

/**
 * Rows that a strike left open, at once and a little later: what was frozen in the middle of a claim or a registration writes
 * it when it goes on, and on a busy machine not at once. Of a killed worker only those of the conversations that it worked for: one that
 * lives on for a while begins what nobody saw.
 */
export async function readAftermath(database: Database, { kind, hit, rows }: Strike): Promise<OpenRows> {
  const later = await Promise.all(
    AFTERMATH_MILLISECONDS.map(async (milliseconds) => {
      await delay(milliseconds);
      return readThroughRestart(database);
    }),
  );
  const worked = new Set(hit.map(({ workflowId }) => workflowId));
  const isStruck = ({ conversationId }: OpenRow): boolean =>
    !DIES_AT_ONCE.has(kind) || worked.has(turnWorkflowId(conversationId));
  const all = [rows, ...later];
  return {
    toolCalls: all.flatMap(({ toolCalls }) => toolCalls).filter(isStruck),
    modelCalls: all.flatMap(({ modelCalls }) => modelCalls).filter(isStruck),
  };
}

/** The server that was struck ends connections that were open before. */
async function readThroughRestart(database: Database): Promise<OpenRows> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readOpenRows(database);
    } catch (error) {
      if (attempt === AFTERMATH_ATTEMPTS) throw error;
      await delay(AFTERMATH_PAUSE_MILLISECONDS);
    }
  }
}

/**
 * Strikes once and repairs what it took away. @returns `null` when it would have hit nothing
 */
export async function strike(field: Battlefield): Promise<Strike | null> {
  const kind = field.at === null ? field.random.weighted(field.kinds) : 'worker_crash_point';
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

async function killAtPoint(field: Battlefield): Promise<Strike | null> {
  const { random, at, conversations } = field;
  const worker = pickWorker(field);
  if (worker === null) return null;
  const length = conversations().length < MANY ? POINTS_PER_ORDER.ofFew : POINTS_PER_ORDER.ofMany;
  const points = at ?? Array.from({ length }, () => random.pick(POINTS)).join(',');
  await worker.order(points);
  const died = await Promise.race([worker.process.exited.then(() => true), delay(POINT_PATIENCE, false)]);
  await worker.withdrawOrder();
  if (!died) return null;
  const struckAt = Date.now();
  const [hit, rows] = await Promise.all([openOn(field, worker), readOpenRows(field.database)]);
  return { kind: 'worker_crash_point', at: struckAt, hit, rows };
}

async function openOn({ temporal, conversations }: Battlefield, worker: RunningWorker): Promise<OpenActivity[]> {
  const open = await readOpenActivities(temporal, conversations());
  return open.filter(({ workerIdentity }) => workerIdentity === worker.identity);
}

async function strikeWorker(
  field: Battlefield,
  kind: 'worker_kill' | 'worker_freeze' | 'worker_restart',
): Promise<Strike | null> {
  const worker = pickWorker(field);
  if (worker === null) return null;
  // Frozen while we look, so that what is seen open is what is hit.
  worker.process.kill('SIGSTOP');
  const struckAt = Date.now();
  try {
    const [hit, rows] = await Promise.all([openOn(field, worker), readOpenRows(field.database)]);
    if (hit.length === 0) return null;
    if (kind === 'worker_kill') worker.process.kill('SIGKILL');
    if (kind === 'worker_restart') worker.process.kill('SIGTERM');
    if (kind === 'worker_freeze') await delay(field.random.between(500, field.longestFreeze));
    return { kind, at: struckAt, hit, rows };
  } finally {
    worker.process.kill('SIGCONT');
  }
}

async function strikeServer(field: Battlefield, kind: StrikeKind, server: Server): Promise<Strike | null> {
  const { places, temporal, database, conversations, random, longestFreeze } = field;
  const workers = places.flatMap((place) => place.current()?.process.processId ?? []);
  signalAll(workers, 'SIGSTOP');
  const struckAt = Date.now();
  let seen: Pick<Strike, 'hit' | 'rows'>;
  let ids: readonly number[];
  try {
    const [hit, rows] = await Promise.all([readOpenActivities(temporal, conversations()), readOpenRows(database)]);
    if (hit.length === 0) return null;
    seen = { hit, rows };
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
  return { kind, at: struckAt, ...seen };
}
