import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { dueEach, startUpkeep } from '../../src/worker/upkeep-timer.ts';
import { openTestStore, send } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { upkeepDependencies } from './support/upkeep-dependencies.ts';

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

test('of the workers of a queue one looks at a time; those of another queue look meanwhile', async () => {
  const { sql, owner } = store;
  const conversationId = newId();
  await send(sql, { conversationId });
  await owner`update messages set created_at = created_at - interval '1 minute'`;
  const looks: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const worker = (name: string, taskQueue = 'agent-turn') =>
    startUpkeep(
      upkeepDependencies(sql, {
        taskQueue,
        ringDoorbell: () => {
          looks.push(name);
          return released;
        },
      }),
      false,
    );
  const [first, second, other] = [worker('first'), worker('second'), worker('other', 'another-queue')];
  const looking = first.look();
  await waitUntil('the first looks', () => looks.length === 1);
  await second.look();
  await other.look();
  expect(looks).toEqual(['first']);
  await sql`update conversations set task_queue = 'another-queue'`;
  const elsewhere = other.look();
  await waitUntil('the other looks', () => looks.length === 2);
  release();
  await Promise.all([looking, elsewhere]);
  expect(looks).toEqual(['first', 'other']);
  await Promise.all([first.end(), second.end(), other.end()]);
});

test('retention is due at the first look, and then once for each interval, however often one looks', () => {
  const isDue = dueEach(600_000);
  const looks = Array.from({ length: 181 }, (_, index) => index * 10_000);
  expect(looks.filter((now) => isDue(now))).toEqual([0, 600_000, 1_200_000, 1_800_000]);
});
