import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deleteExpired, repairSomeTurns, ringForWaitingMessages } from '../../src/worker/upkeep.ts';
import type { UpkeepDependencies } from '../../src/worker/upkeep.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { openMovedClock } from '../store/support/moved-clock.ts';
import type { MovedClock } from '../store/support/moved-clock.ts';
import { endedAs, openTestStore, send, startTurn } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { NEVER, upkeepDependencies } from './support/upkeep-dependencies.ts';

let store: TestStore;
let clock: MovedClock;
/** Conversations whose rings and looks fail. */
const poisoned = new Set<string>();
let rung: string[] = [];
let lines: string[] = [];

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
  poisoned.clear();
  rung = [];
  lines = [];
});

class Poison extends Error {
  readonly code = 'POISON';
}

function dependencies(lost: readonly TurnReference[] = []): UpkeepDependencies {
  const gone = new Set(lost.map(({ conversationId }) => turnWorkflowId(conversationId)));
  return upkeepDependencies(clock.sql, {
    logger: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
    ringDoorbell: (conversationId) => {
      if (poisoned.has(conversationId)) return Promise.reject(new Poison('its history is full'));
      rung.push(conversationId);
      return Promise.resolve();
    },
    isWorkflowOpen: (workflowId) =>
      [...poisoned].some((conversationId) => turnWorkflowId(conversationId) === workflowId)
        ? Promise.reject(new Poison('its history is full'))
        : Promise.resolve(!gone.has(workflowId)),
  });
}

async function waiting(): Promise<string> {
  const conversationId = newId();
  await send(store.sql, { conversationId });
  return conversationId;
}

const outcomeOf = async ({ turnId }: TurnReference) => (await getTurn(store.sql, turnId)).outcome;

test('a conversation that cannot be rung for keeps no other one waiting, and is tried again at the next look', async () => {
  const first = await waiting();
  poisoned.add(first);
  const others = [await waiting(), await waiting()];
  await ringForWaitingMessages(dependencies());
  expect(rung.toSorted()).toEqual(others.toSorted());
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ conversationId: first, code: 'POISON' }]);
  expect(lines.join('')).not.toContain('history is full');
  poisoned.clear();
  await ringForWaitingMessages(dependencies());
  expect(rung.slice(2)).toEqual([first]);
});

test('all that wait are rung for in one look, however many they are', async () => {
  const many = 450;
  await store.sql`
    insert into conversations (id, tenant, task_queue, agent) select gen_random_uuid(), 'default', 'agent-turn', 'many' from generate_series(1, ${many})`;
  await store.sql`
    insert into messages (id, conversation_id, kind, mode, content, measurements)
    select c.id::text, c.id, 'message', 'queue', '[]', no_measurements() from conversations c where c.agent = 'many'`;
  await ringForWaitingMessages(dependencies());
  expect(new Set(rung).size).toBe(many);
  await ringForWaitingMessages(dependencies());
  expect(rung).toHaveLength(many);
});

test('a turn that cannot be looked at keeps no lost turn from being repaired, and live ones leave none unseen', async () => {
  const live = [await startTurn(store.sql), await startTurn(store.sql), await startTurn(store.sql)];
  const [hidden, behind] = [await startTurn(store.sql), await startTurn(store.sql)];
  poisoned.add(live[0]?.conversationId ?? '');
  const lost = dependencies([hidden, behind]);
  await repairSomeTurns(lost, 2);
  expect([await outcomeOf(hidden), await outcomeOf(behind)]).toEqual([null, null]);
  await repairSomeTurns(lost, 2);
  expect([await outcomeOf(hidden), await outcomeOf(behind)]).toEqual(['interrupted', null]);
  await repairSomeTurns(lost, 2);
  expect([await outcomeOf(hidden), await outcomeOf(behind)]).toEqual(['interrupted', 'interrupted']);
  expect(rung).toEqual([hidden.conversationId, behind.conversationId]);
  expect(await Promise.all(live.map(outcomeOf))).toEqual([null, null, null]);
});

test('a conversation that others have locked keeps no other one from being deleted by retention, and is warned of', async () => {
  const { sql, url } = store;
  const turns = [await startTurn(sql), await startTurn(sql)];
  for (const turn of turns) await endedAs(sql, turn);
  const [locked, free] = turns.map(({ conversationId }) => conversationId);
  await sql`
    update conversations set agent = 'expired', active_at = active_at - interval '10 days' where id = any(${[locked ?? '', free ?? '']})`;
  const hasty = connectDatabase({ url, applicationName: 'hasty', maximumConnections: 1 });
  await hasty`set lock_timeout = 100`;
  const retention = [{ agent: 'expired', days: 7 }];
  await sql.begin(async (open) => {
    await open`select from conversations where id = ${locked ?? ''} for key share`;
    await deleteExpired({ ...dependencies(), database: hasty, retention }, NEVER);
  });
  await hasty.end();
  const left = await sql<{ id: string }[]>`select id from conversations where agent = 'expired'`;
  expect(left.map(({ id }) => id)).toEqual([locked]);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ conversationId: locked, code: '55P03' }]);
});

test('memories that expired more than a day ago are deleted without any rule, with those whose place they had taken', async () => {
  const { sql } = store;
  const memory = async (said: string, days: number | null): Promise<string> => {
    const id = newId();
    const expiresAt = days === null ? {} : { expiresAt: new Date(Date.now() + days * 86_400_000).toISOString() };
    await insertMemory(sql, {
      scope: 'agent',
      scopeName: 'expiring',
      id,
      kind: 'fact',
      text: said,
      origin: 'user',
      ...expiresAt,
    });
    return id;
  };
  const superseded = await memory('Pump 1 is shut.', null);
  const expired = await memory('Pump 1 is open.', -1.1);
  await sql`update memories set superseded_by = ${expired} where id = ${superseded}`;
  const kept = [
    await memory('Pump 2 is shut.', -0.9),
    await memory('Pump 3 is shut.', 30),
    await memory('Pump 4 is shut.', null),
  ];
  await deleteExpired({ ...dependencies(), retention: [] }, NEVER);
  const rows = await sql<{ id: string }[]>`select id from memories where scope_name = 'expiring' order by created_at`;
  expect(rows.map(({ id }) => id)).toEqual(kept);
});
