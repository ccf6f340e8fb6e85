import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CrashPoint } from '../../src/activities/crash-points.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import {
  deleteExpired,
  indexFallenBehind,
  repairLostTurns,
  ringForWaitingMessages,
} from '../../src/activities/upkeep.ts';
import { newId } from '../../src/store/ids.ts';
import { insertMemory } from '../../src/store/memories.ts';
import { getTurn } from '../../src/store/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { openMovedClock } from '../store/support/moved-clock.ts';
import type { MovedClock } from '../store/support/moved-clock.ts';
import { endedAs, openTestStore, send, startTurn } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { databaseOfLife } from '../support/ordered-deaths.ts';
import { activityDependencies } from './support/activity-dependencies.ts';
import { DEATHS_OF_UPKEEP } from './support/deaths-of-upkeep.ts';

type PointOfUpkeep = (typeof DEATHS_OF_UPKEEP)[number];

let store: TestStore;
let clock: MovedClock;
/** Conversations in the order in which they were rung for. */
let rung: string[] = [];

beforeAll(async () => {
  store = await openTestStore();
  clock = openMovedClock(store.url);
  await clock.set(60);
});
afterAll(async () => {
  await clock.close();
  await store.close();
});
beforeEach(() => {
  rung = [];
});

const ACTIVITIES = { ringForWaitingMessages, repairLostTurns, indexFallenBehind, deleteExpired };

/** One try of the activity of a point, on a worker that dies there unless it `lives`; of all open turns Temporal knows none. */
async function tryActivity(point: PointOfUpkeep, lives: boolean): Promise<void> {
  const life = { isOver: false };
  const arrivals: CrashPoint[] = [];
  const dependencies: ActivityDependencies = {
    ...activityDependencies(lives ? clock.sql : databaseOfLife(clock.sql, life)),
    retention: [{ agent: 'expired', days: 30, megabytes: null }],
    isWorkflowOpen: () => Promise.resolve(false),
    ringDoorbell: (conversationId) => {
      rung.push(conversationId);
      return Promise.resolve();
    },
    reachCrashPoint: (reached) => {
      arrivals.push(reached);
      if (lives || reached !== point) return;
      life.isOver = true;
      throw new Error(`the worker died at ${point}`);
    },
  };
  const [name] = point.split(':') as [keyof typeof ACTIVITIES];
  const running = ACTIVITIES[name](dependencies, undefined, { signal: new AbortController().signal });
  if (lives) return running;
  await running.catch(() => undefined);
  expect(arrivals).toContain(point);
}

/** A death at the point, then what the next run of upkeep does. */
async function dieAndGoOn(point: PointOfUpkeep, between?: () => Promise<unknown>): Promise<void> {
  await tryActivity(point, false);
  await between?.();
  await tryActivity(point, true);
}

async function lostTurn(): Promise<TurnReference> {
  const turn = await startTurn(store.sql);
  await send(store.sql, { conversationId: turn.conversationId });
  return turn;
}

const outcomeOf = async ({ turnId }: TurnReference) => (await getTurn(store.sql, turnId)).outcome;

/** By the point at which upkeep dies: what it had to do, and what the next run has done. */
const SCENARIOS: Readonly<Record<PointOfUpkeep, () => Promise<void>>> = {
  'ringForWaitingMessages:rung': async () => {
    const conversationId = newId();
    await send(store.sql, { conversationId });
    await dieAndGoOn('ringForWaitingMessages:rung');
    // A ring more than needed: they coalesce.
    expect(rung).toEqual([conversationId, conversationId]);
    await tryActivity('ringForWaitingMessages:rung', true);
    expect(rung).toHaveLength(2);
  },
  'repairLostTurns:interrupted': async () => {
    const turn = await lostTurn();
    await dieAndGoOn('repairLostTurns:interrupted');
    expect(await outcomeOf(turn)).toBe('interrupted');
    expect(rung).toEqual([]);
    // Nobody rang for what waits behind it: that is found as what no sender rang for.
    await tryActivity('ringForWaitingMessages:rung', true);
    expect(rung).toEqual([turn.conversationId]);
  },
  'repairLostTurns:rung': async () => {
    const turn = await lostTurn();
    await dieAndGoOn('repairLostTurns:rung');
    expect(await outcomeOf(turn)).toBe('interrupted');
    expect(rung).toEqual([turn.conversationId]);
  },
  'indexFallenBehind:taken-apart': async () => {
    const conversationId = await forgottenByTheIndex();
    await dieAndGoOn('indexFallenBehind:taken-apart', async () => {
      expect(await store.sql`select from memories where terms is null`).toHaveLength(0);
      expect(await passagesOf(conversationId)).toBe(0);
    });
    expect(await passagesOf(conversationId)).toBeGreaterThan(0);
  },
  'indexFallenBehind:indexed': async () => {
    const conversationId = await forgottenByTheIndex();
    let indexed = 0;
    await dieAndGoOn('indexFallenBehind:indexed', async () => {
      indexed = await passagesOf(conversationId);
      expect(indexed).toBeGreaterThan(0);
    });
    expect(await passagesOf(conversationId)).toBe(indexed);
  },
  'deleteExpired:forgotten': async () => {
    const expired = await expiredConversation();
    await dieAndGoOn('deleteExpired:forgotten', async () => {
      expect(await memoriesOf('expired')).toBe(0);
      expect(await isStored(expired)).toBe(true);
      await store.sql`update deployment set retention_at = null`;
    });
    expect(await isStored(expired)).toBe(false);
  },
  'deleteExpired:deleted': async () => {
    const expired = await expiredConversation();
    const kept = await startTurn(store.sql);
    await dieAndGoOn('deleteExpired:deleted', async () => {
      expect(await isStored(expired)).toBe(false);
      await store.sql`update deployment set retention_at = null`;
    });
    expect(await isStored(kept.conversationId)).toBe(true);
  },
};

async function rememberByHand(scopeName: string, expiresAt?: Date): Promise<void> {
  await insertMemory(store.sql, {
    id: newId(),
    scope: 'agent',
    scopeName,
    kind: 'fact',
    text: 'Pump 7 opens at 4 bar.',
    origin: 'user',
    ...(expiresAt !== undefined && { expiresAt: expiresAt.toISOString() }),
  });
}

/** A memory that was written by hand, and a conversation in which nobody has searched. */
async function forgottenByTheIndex(): Promise<string> {
  await rememberByHand('nobody');
  await store.sql`update memories set terms = null`;
  const turn = await startTurn(store.sql, 'Pump 7 opens at 4 bar.');
  return turn.conversationId;
}

async function passagesOf(conversationId: string): Promise<number> {
  return (await store.sql`select from passages where conversation_id = ${conversationId}`).length;
}

async function expiredConversation(): Promise<string> {
  const { sql } = store;
  await rememberByHand('expired', new Date(Date.now() - 2 * 86_400_000));
  const turn = await startTurn(sql);
  await endedAs(sql, turn);
  await sql`
    update conversations set agent = 'expired', active_at = active_at - interval '31 days'
    where id = ${turn.conversationId}`;
  await sql`update deployment set retention_at = null`;
  return turn.conversationId;
}

async function memoriesOf(scopeName: string): Promise<number> {
  return (await store.sql`select from memories where scope_name = ${scopeName}`).length;
}

async function isStored(conversationId: string): Promise<boolean> {
  return (await store.sql`select from conversations where id = ${conversationId}`).length > 0;
}

test.each(DEATHS_OF_UPKEEP)('upkeep that dies at %s loses nothing: the next run does the rest', async (point) => {
  await SCENARIOS[point]();
});
