import { CRASH_POINTS, pointsNamed } from '../src/activities/crash-points.ts';
import type { Random } from './random.ts';

/** Points that no conversation of the soak reaches, and why. */
const NEVER_REACHED: readonly (readonly [points: RegExp, why: string])[] = [
  [/^changeBranch:/u, 'nothing changes a branch'],
  [
    /^(?:ringForWaitingMessages|repairLostTurns|indexFallenBehind|deleteExpired):/u,
    'upkeep is part of no conversation',
  ],
  [/:fell-back$/u, 'the agent has no model to fall back to'],
  [/^compactContext:cancelled$/u, 'the worker has no hook before a compaction'],
  [/^commitCompaction:(?:noted|logged)$/u, 'the agent has no memory'],
  [/:limit-noted$/u, 'no turn comes near a limit'],
  [/^callModel:window-learned$/u, 'every overflow names the window that is known'],
  [/^runTool:given-back$/u, 'hardly any call ends between its claim and its tool'],
  [/^callModel:noted$/u, 'no answer is longer than the model may answer'],
];

/** Points that conversations of the soak reach, sooner or later. */
export const REACHED_POINTS: readonly string[] = CRASH_POINTS.filter((point) => whyNeverReached(point) === null);

function whyNeverReached(point: string): string | null {
  return NEVER_REACHED.find(([points]) => points.test(point))?.[1] ?? null;
}

/** Why the soak cannot strike at what is named; `null`: it can. */
export function whyUnusable(name: string): string | null {
  const named = pointsNamed(name);
  const known = `use one of ${REACHED_POINTS.join(', ')}, or <activity>:after-write`;
  if (named.length === 0) return `There is no such point: ${known}.`;
  const reasons = named.map((point) => whyNeverReached(point));
  if (reasons.includes(null)) return null;
  return `No conversation of the soak reaches this point, because ${reasons[0]}: ${known}.`;
}

/** Points that every conversation reaches often enough to wait for one. */
const COMMON_POINTS = [
  'beginTurn:written',
  'continueTurn:written',
  'takeMessages:written',
  'requestDecisions:written',
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
/** Points of a compaction: reached every few steps, so ordered together and waited for longer. */
const COMPACTION_POINTS = [
  'compactContext:after-write',
  'summarize:after-write',
  'summarize:answered',
  'commitCompaction:after-write',
];
/** How many of the orders are for a compaction: once one was hit, and until then. A short run may else meet none by chance. */
const COMPACTION_SHARE = { again: 0.35, first: 0.75 };

/** Points that are ordered at once: the first to be reached counts. Few conversations reach few points in the time. */
const POINTS_PER_ORDER = { ofMany: 3, ofFew: 8 };
/** So many conversations are many. */
const MANY = 10;

export interface PointOrder {
  /** As `HOLDFAST_CRASH_ORDERS` takes them. */
  readonly points: string;
  /** A point that is not reached by then is given up, milliseconds. */
  readonly patience: number;
}

export interface PointWish {
  /** Open conversations. */
  readonly conversations: number;
  /** The only point that is wanted; `null`: any. */
  readonly at: string | null;
  readonly compaction: CompactionStrikes;
}

/** What strikes have hit of compactions: `hit`, none yet, or `owed`: none, and the run is nearly over. */
export type CompactionStrikes = 'hit' | 'none' | 'owed';

/** From so many strikes before the last, every one is for a compaction, if none was hit before. */
const LAST_STRIKES = 5;
/** How long a worker that owes a compaction is waited for: it gets one of the next few that users ask for. */
export const OWED_PATIENCE_MILLISECONDS = 20_000;

/** @param left strikes that are still to come */
export function compactionStrikes(wasHit: boolean, left: number): CompactionStrikes {
  if (wasHit) return 'hit';
  return left <= LAST_STRIKES ? 'owed' : 'none';
}

export function orderPoints(random: Random, { conversations, at, compaction }: PointWish): PointOrder {
  if (at !== null) return { points: at, patience: 4_000 };
  if (compaction === 'owed') return { points: COMPACTION_POINTS.join(','), patience: OWED_PATIENCE_MILLISECONDS };
  const few = conversations < MANY;
  if (random.chance(compaction === 'hit' ? COMPACTION_SHARE.again : COMPACTION_SHARE.first)) {
    const points = few ? COMPACTION_POINTS : [random.pick(COMPACTION_POINTS), random.pick(COMPACTION_POINTS)];
    return { points: points.join(','), patience: few ? 5_000 : 8_000 };
  }
  const length = few ? POINTS_PER_ORDER.ofFew : POINTS_PER_ORDER.ofMany;
  return { points: Array.from({ length }, () => random.pick(COMMON_POINTS)).join(','), patience: 4_000 };
}
