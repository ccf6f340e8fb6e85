import { afterAll, beforeAll, expect, test } from 'vitest';
import { readsDuring } from '../../dev/bench/table-reads.ts';
import { readBranchCommand } from '../../src/store/conversations/branch-commands.ts';
import { listBranches, readActiveBranch, readSaidMessage } from '../../src/store/conversations/branches.ts';
import type { BranchRow } from '../../src/store/conversations/branches.ts';
import type { Database } from '../../src/store/database/database.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import type { BranchTarget } from '../../src/store/messages/messages.ts';
import { command, end, go } from './support/branch-builders.ts';
import { continueConversation, conversationOf, openTestStore, send, text } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

const BRANCHES = 20;
/** Said on the first branch after all others were begun. */
const LATER_ENTRIES = 5_000;
/** Of entries: some for each branch. */
const MOST_READ = 500;

let store: TestStore;
let sql: Database;
let owner: Database;
let conversationId: string;
/** The user's first message, at which all branches but the last begin. */
let firstId: string;

beforeAll(async () => {
  // One connection, which is told to tell its counts.
  store = await openTestStore(1);
  ({ sql, owner } = store);
  const turn = await conversationOf(sql, 'The beginning.', 'What came next.');
  ({ conversationId } = turn);
  await end(sql, turn);
  firstId = (await listEntries(sql, { conversationId }))[0]?.id ?? '';
  for (let branch = 1; branch <= BRANCHES; branch += 1) {
    // The fourth begins at the end of the third.
    await go(sql, conversationId, { entryId: branch === 4 ? await headOfBranch(3) : firstId, summarizes: false });
    // On the last one nothing is said.
    if (branch < BRANCHES) await say(`Said on branch ${branch}.`);
  }
  await go(sql, conversationId, { branch: 0, summarizes: false });
  await growFirstBranch(LATER_ENTRIES);
  await owner`vacuum analyze`;
});
afterAll(() => store.close());

async function say(said: string): Promise<void> {
  await send(sql, { conversationId, ...text(said) });
  await end(sql, await continueConversation(sql, conversationId));
}

async function goOnWith(branch: number): Promise<void> {
  const head = await headOfBranch(branch);
  await sql`update conversations set branch = ${branch}, head_entry_id = ${head} where id = ${conversationId}`;
}

async function headOfBranch(wanted: number): Promise<string> {
  const found = (await listBranches(sql, conversationId)).find(({ branch }) => branch === wanted);
  return found?.headEntryId ?? '';
}

/** Answers that call tools, as the server would have left them. */
async function growFirstBranch(count: number): Promise<void> {
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, call_number, model_attempt,
        tool_call_count, content, measurements, sums, created_at)
      select gen_random_uuid(), c.id, c.last_sequence + n, 0, c.head_entry_id, 'assistant', e.turn_id, 1, n, 1, 1,
        '[]', no_measurements(), no_measurements(), now() + n * interval '1 second'
      from conversations c join entries e on e.id = c.head_entry_id cross join generate_series(1, ${count}::int) as n
      where c.id = ${conversationId}`;
    await open`
      update conversations c set last_sequence = e.sequence, head_entry_id = e.id from entries e
      where c.id = ${conversationId} and e.conversation_id = c.id and e.sequence = c.last_sequence + ${count}::int`;
  });
}

/** Rows of entries that were read, of the table or of an index. */
async function entriesRead(work: () => Promise<unknown>): Promise<number> {
  await work(); // The catalogue is known.
  const reads = await readsDuring(sql, work, { isAlone: true });
  return reads.reduce((sum, { table, scanned, fetched }) => sum + (table === 'entries' ? scanned + fetched : 0), 0);
}

/** By looking at all entries. */
async function expected(): Promise<Pick<BranchRow, 'branch' | 'entries' | 'headEntryId' | 'activeAt'>[]> {
  const rows = await sql<{ branch: number; entries: number; head: string; active_at: Date | null }[]>`
    select own.branch, count(e.id) filter (where e.branch = own.branch)::int as entries,
      (array_agg(e.id order by e.sequence desc))[1] as head,
      max(e.created_at) filter (where e.branch = own.branch) as active_at
    from branches own
    join branches b on b.conversation_id = own.conversation_id and b.branch = own.branch
    join entries e on e.conversation_id = b.conversation_id and e.branch = b.ancestor and e.sequence <= b.through_sequence
    where own.conversation_id = ${conversationId} and own.ancestor = own.branch group by own.branch order by own.branch`;
  return rows.map(({ branch, entries, head, active_at: activeAt }) => ({
    branch,
    entries,
    headEntryId: head,
    activeAt: activeAt?.toISOString() ?? null,
  }));
}

test('branches are listed with a few rows read of each, however much was said on one of them', async () => {
  const branches = await listBranches(sql, conversationId);
  expect(branches).toMatchObject(await expected());
  expect(branches).toHaveLength(BRANCHES + 1);
  expect(branches[0]).toMatchObject({ entries: LATER_ENTRIES + 2, active: true, title: 'The beginning.' });
  expect(branches[4]).toMatchObject({ forkedFrom: 3, title: 'Said on branch 4.' });
  expect(branches[BRANCHES]).toMatchObject({ entries: 0, headEntryId: firstId, activeAt: null, title: '' });
  expect(await entriesRead(() => listBranches(sql, conversationId))).toBeLessThan(MOST_READ);
  expect(await readActiveBranch(sql, conversationId)).toEqual(branches[0]);
  expect(await entriesRead(() => readActiveBranch(sql, conversationId))).toBeLessThan(MOST_READ);
});

test('the newest message of the active branch is read with a few rows, however much was said on others since', async () => {
  await goOnWith(4);
  const read = () => readSaidMessage(sql, conversationId, null);
  expect(await read()).toMatchObject({ entryId: await headOfBranch(4), content: [{ text: 'Said on branch 4.' }] });
  expect(await entriesRead(read)).toBeLessThan(MOST_READ);
});

/** A turn for the command, and the rows that it reads to know what the command means. */
async function readCommand(target: BranchTarget) {
  await command(sql, conversationId, target);
  const turn = await continueConversation(sql, conversationId);
  const read = () => readBranchCommand(sql, turn);
  const found = await read();
  const rows = await entriesRead(read);
  // Without it, the command is served all the same.
  await end(sql, turn);
  return { found, rows };
}

test.each([
  ['switch', 'to a branch that was left', async () => ({ branch: 4, summarizes: true })],
  ['switch', 'to a branch without entries', async () => ({ branch: BRANCHES, summarizes: true })],
  ['fork', 'from an entry of another branch', async () => ({ entryId: await headOfBranch(2), summarizes: true })],
] as const)('a %s %s is read with a few rows', async (kind, _, target) => {
  await goOnWith(5);
  const wanted: BranchTarget = await target();
  const headEntryId = wanted.entryId ?? (await headOfBranch(wanted.branch ?? 0));
  const { found, rows } = await readCommand(wanted);
  expect(found).toMatchObject({ kind: 'command', command: { kind, to: { headEntryId }, ancestorSequence: 1 } });
  expect(rows).toBeLessThan(MOST_READ);
});

test('what two branches have in common is found with a few rows, however much was said between it and their ends', async () => {
  for (const said of ['Said late.', 'Said last.']) {
    await go(sql, conversationId, { entryId: firstId, summarizes: false });
    await say(said);
  }
  const { found, rows } = await readCommand({ branch: BRANCHES + 1, summarizes: true });
  expect(found).toMatchObject({ command: { from: { branch: BRANCHES + 2 }, ancestorSequence: 1 } });
  expect(rows).toBeLessThan(MOST_READ);
});
