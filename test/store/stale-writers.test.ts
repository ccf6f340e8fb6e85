import { beforeAll, expect, test } from 'vitest';
import { changeBranch } from '../../src/store/conversations/change-branch.ts';
import type { BranchCommand } from '../../src/store/conversations/branch-commands.ts';
import { fallBack } from '../../src/store/turns/fallbacks.ts';
import { storePlan } from '../../src/store/compactions/compactions.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { writeMemory } from '../../src/store/memory/memories.ts';
import { writeAsToolCall } from '../../src/store/attempts/tool-calls.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { plan, planWithCut } from './support/compaction-builders.ts';
import { code, NOT_GRANTED } from './support/refusals.ts';
import {
  claimedCall,
  FIRST_ATTEMPT,
  headOf,
  send,
  SNAPSHOT,
  startTurn,
  step,
  useTestStore,
} from './support/store-builders.ts';

const { sql } = useTestStore();

/** A turn that has written much and was then replaced, with what its attacks name. */
interface Replaced {
  readonly turn: TurnReference;
  readonly head: string;
  readonly compactionId: string;
  readonly call: Parameters<typeof writeAsToolCall>[1];
}

let replaced: Replaced;

beforeAll(async () => {
  const turn = await startTurn(sql);
  const { conversationId, turnId, epoch } = turn;
  await step(sql, turn, 1);
  const call = await claimedCall(sql, turn, 2);
  await sql`
    insert into decisions (turn_id, call_number, call_index, conversation_id, epoch, kind, agent, tool, rules, expires_at)
    values (${turnId}, 2, 0, ${conversationId}, ${epoch}, 'approval', 'reader', 'read_file', '{r}', now())`;
  const head = await headOf(sql, conversationId);
  const { compaction } = await plan(sql, turn, planWithCut(2));
  await send(sql, { conversationId, mode: 'steer' });
  await sql`update conversations set epoch = epoch + 1 where id = ${conversationId}`;
  replaced = { turn, head, compactionId: compaction.compactionId, call };
});

/** Names of the tables, without views, that have one of these columns. */
async function tablesWith(...columns: string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select distinct c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'holdfast' and t.table_type = 'BASE TABLE' and c.column_name::text = any(${columns}::text[]) order by 1`;
  return rows.map(({ name }) => name);
}

async function tablesWithEpoch(): Promise<string[]> {
  return (await tablesWith('epoch')).filter((name) => name !== 'conversations');
}

/** Tables whose rows others than turns change too, so that the table itself cannot ask for the epoch of whoever does. */
const CHANGED_BY_OTHERS: Readonly<Record<string, string>> = {
  decisions: 'people decide, who have no epoch; rows of a turn that was replaced are withdrawn with it',
  turns: 'a turn that was replaced has ended as interrupted, and an ended turn stays as it ended',
};

test('inserts with an older epoch are refused by every table that has one', async () => {
  const { turn } = replaced;
  const tables = await tablesWithEpoch();
  expect(tables.length).toBeGreaterThanOrEqual(8);
  // Rules of the row itself come after the trigger, so no other column is needed.
  const refusals = await Promise.all(
    tables.map(async (table) => [
      table,
      await code(
        sql`insert into ${sql(table)} (conversation_id, epoch) values (${turn.conversationId}, ${turn.epoch})`,
      ),
    ]),
  );
  expect(refusals).toEqual(tables.map((table) => [table, 'HF001']));
});

test('updates with an older epoch are refused by every table that has one', async () => {
  const { turn } = replaced;
  for (const table of await tablesWithEpoch()) {
    const rows = await sql<{ place: string }[]>`
      select ctid::text as place from ${sql(table)} where conversation_id = ${turn.conversationId}`;
    expect(rows.length, `rows of ${table}, without which the attack shows nothing`).toBeGreaterThan(0);
    if (CHANGED_BY_OTHERS[table] !== undefined) continue;
    const refusals: (string | undefined)[] = [];
    for (const { place } of rows)
      refusals.push(await code(sql`update ${sql(table)} set epoch = ${turn.epoch} where ctid = ${place}::text::tid`));
    expect(refusals, table).not.toContain(undefined);
    // That a row is final (HF005) shows nothing for one that is not; that none of the table may be changed does.
    const isAppendOnly = refusals.every((each) => each === NOT_GRANTED);
    expect(isAppendOnly || refusals.includes('HF001'), `${table}: ${refusals.join()}`).toBe(true);
  }
});

/** Writes a memory in the name of a tool call. */
const remember = ({ call }: Replaced) =>
  writeAsToolCall(sql, call, (open) =>
    writeMemory(open, { id: newId(), scope: 'user', scopeName: 'ada', kind: 'fact', text: 'x', origin: 'model' }),
  );

/** Goes to a new branch. */
const fork = ({ turn, head }: Replaced) => {
  const place = { branch: 0, headEntryId: head, headSequence: 1, compactions: 0 };
  const command = { kind: 'fork', messageId: newId(), from: place, to: place, ancestorSequence: 1, summarizes: false };
  return changeBranch(sql, turn, command as unknown as BranchCommand, null);
};

/** What the store writes for a turn into tables without an epoch of their own. */
const WRITERS: Readonly<Record<string, (replaced: Replaced) => Promise<unknown>>> = {
  branches: fork,
  compaction_operations: ({ turn, head }) =>
    storePlan(sql, {
      turn,
      callNumber: 3,
      compactionId: newId(),
      plan: planWithCut(2, { operations: [{ kind: 'clear', sequence: 1 }] as never }),
      reason: 'threshold',
      preset: 'default',
      headEntryId: head,
    }),
  conversations: fork,
  memories: remember,
  messages: ({ turn }) => takeMessages(sql, turn),
  turns: ({ turn }) => {
    const { model: from, modelLimits, policy, summarizer, prices } = SNAPSHOT;
    const to = { model: 'other/model', modelLimits, policy, summarizer, prices };
    return fallBack(sql, { turn, callNumber: 3, attempt: null, by: FIRST_ATTEMPT, from, to });
  },
};

/** Tables that say whose they are and that a turn that was replaced may write. */
const NOT_FENCED: Readonly<Record<string, string>> = {
  branch_summaries: 'written with its entry, which is fenced, in one transaction',
  contents: 'originals are written before the transaction that links them; without it nobody sees them',
  packed_outlines: 'written by the trigger of entries, which are fenced',
  passages: 'the search index, made from what is stored',
  provider_calls:
    'places in the queue for a provider: fenced by the attempt that asks, they name no turn, and end by themselves',
  search_progress: 'the search index, made from what is stored',
  standing_decisions: 'written by people who decide',
  webhook_deliveries: 'written by the trigger of events, which are fenced',
};

test('every table that says whose it is has an epoch, is attacked through what writes it, or says why not', async () => {
  const epochs = await tablesWithEpoch();
  const tables = (await tablesWith('conversation_id', 'turn_id', 'compaction_id')).filter(
    (name) => !epochs.includes(name),
  );
  expect([...Object.keys(WRITERS), ...Object.keys(NOT_FENCED)].filter((name) => name !== 'turns').sort()).toEqual(
    tables,
  );
});

test.each(Object.entries(WRITERS))('a turn that was replaced writes nothing into %s', async (table, write) => {
  const contents = () => sql`select t::text as row from ${sql(table)} t order by 1`;
  const before = await contents();
  await expect(write(replaced)).rejects.toMatchObject({ code: 'stale_epoch' });
  expect([...(await contents())]).toEqual([...before]);
});

test('an ended turn stays as it ended', async () => {
  const { turn } = replaced;
  const { turnId } = turn;
  await sql`update turns set outcome = 'interrupted', ended_at = now() where id = ${turnId}`;
  expect(await code(sql`update turns set outcome = 'completed' where id = ${turnId}`)).toBe('HF001');
  expect(await code(sql`update turns set run_id = 'other' where id = ${turnId}`)).toBe('HF001');
});
