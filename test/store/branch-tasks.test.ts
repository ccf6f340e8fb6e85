import { afterAll, beforeAll, expect, it } from 'vitest';
import { readsDuring } from '../../dev/bench/table-reads.ts';
import { readActiveTask, readBranchTasks } from '../../src/store/conversations/branches.ts';
import type { Database } from '../../src/store/database/database.ts';
import { limitsOfNewTurn } from '../../src/store/turns/turn-limits.ts';
import { withoutTableScans } from '../../src/store/memory/choose-memories.ts';
import { end, go } from './support/branch-builders.ts';
import { answer, openTestStore, SNAPSHOT, startTurn } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;
let owner: Database;
beforeAll(async () => {
  store = await openTestStore(1);
  ({ sql, owner } = store);
});
afterAll(() => store.close());

/** A conversation of one task, gone on with on the last of so many branches that hold it. */
async function withBranches(count: number): Promise<string> {
  const turn = await startTurn(sql);
  const { entryId } = await answer(sql, turn, 1);
  await end(sql, turn);
  for (let branch = 0; branch < count; branch += 1) await go(sql, turn.conversationId, { entryId, summarizes: false });
  return turn.conversationId;
}

/** Entries that Postgres reads for the limits of a turn that resumes. */
async function entriesRead(conversationId: string): Promise<number> {
  await owner`vacuum (analyze)`;
  const begin = { conversationId, snapshot: SNAPSHOT, resumes: ['one that goes on'] };
  const work = () => withoutTableScans(sql, (open) => limitsOfNewTurn(open, begin));
  const reads = await readsDuring(sql, work, { isAlone: true });
  const of = reads.find(({ table }) => table === 'entries');
  return (of?.scanned ?? 0) + (of?.fetched ?? 0);
}

it('the task of the active branch is read without those of the others, however many there are', async () => {
  const [few, many] = [await withBranches(2), await withBranches(24)];
  for (const each of [few, many]) {
    const tasks = await readBranchTasks(sql, each);
    expect(await readActiveTask(sql, each)).toEqual(tasks.find(({ active }) => active));
  }
  const ofFew = await entriesRead(few);
  expect(ofFew).toBeGreaterThan(0);
  expect(await entriesRead(many)).toBeLessThanOrEqual(ofFew);
});
