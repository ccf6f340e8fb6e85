import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOutlines } from '../../src/store/log/packed-outlines.ts';
import { outlineColumns, toOutline } from '../../src/store/log/entry-rows.ts';
import type { OutlineColumns } from '../../src/store/log/entry-rows.ts';
import { entriesInScope } from '../../src/store/conversations/branch-path.ts';
import type { ViewScope } from '../../src/store/conversations/branch-path.ts';
import type { Database } from '../../src/store/database/database.ts';
import { openTestStore, startTurn, step } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;
let owner: Database;
let scope: ViewScope;
const ENTRIES = 2_000;
const FORK = 700;

/** A conversation with a second branch that leaves the first at entry 700, both with entries of every kind. */
beforeAll(async () => {
  store = await openTestStore();
  ({ sql, owner } = store);
  const { turn } = await startLong();
  const [head] = await sql<{ id: string; sequence: number; branch: number }[]>`
    select e.id, e.sequence, e.branch from conversations c join entries e on e.id = c.head_entry_id where c.id = ${turn.conversationId}`;
  if (head === undefined) throw new Error('no head');
  scope = {
    point: {
      conversationId: turn.conversationId,
      branch: head.branch,
      headEntryId: head.id,
      headSequence: head.sequence,
      compactions: 0,
    },
    summary: null,
    fromSequence: 1,
    olderSequences: [],
  };
});
afterAll(() => store.close());

async function rowsOf(of: ViewScope) {
  const rows = await sql<OutlineColumns[]>`${entriesInScope(sql, of, outlineColumns(sql), sql``)}`;
  return rows.map(toOutline);
}

test('full blocks of a long conversation are packed by the append that fills them, and read as the rows are', async () => {
  const [packed] = await sql<{ blocks: number; longest: number }[]>`
    select count(*)::int as blocks, max(length(outline))::int as longest from packed_outlines
    where conversation_id = ${scope.point.conversationId}`;
  expect(packed?.blocks).toBe(Math.floor(ENTRIES / 256));
  const outlines = [...(await readOutlines(sql, scope))];
  expect(outlines).toEqual(await rowsOf(scope));
  expect(new Set(outlines.map(({ kind }) => kind))).toEqual(new Set(['user', 'assistant', 'tool_result', 'note']));
});

test('from a cut on, with older entries that stay, also when the cut is inside a block', async () => {
  const from = { ...scope, fromSequence: 300, olderSequences: [3, 40] };
  const outlines = [...(await readOutlines(sql, from))];
  expect(outlines).toEqual(await rowsOf(from));
  expect(outlines.slice(0, 3).map(({ sequence }) => sequence)).toEqual([3, 40, 300]);
});

test('of two branches only the entries of the path are read', async () => {
  const { conversationId } = scope.point;
  const [{ id: forkId } = { id: '' }] = await sql<{ id: string }[]>`
    select id from entries where conversation_id = ${conversationId} and sequence = ${FORK}`;
  await sql.begin(async (open) => {
    // As a fork leaves it: a branch whose path goes through the first one up to the entry.
    await open`insert into branches (conversation_id, branch, ancestor, through_sequence) values
      (${conversationId}, 77, 0, ${FORK}), (${conversationId}, 77, 77, 2147483647)`;
  });
  const forked: ViewScope = { ...scope, point: { ...scope.point, branch: 77, headEntryId: forkId } };
  const outlines = [...(await readOutlines(sql, forked))];
  expect(outlines.at(-1)?.sequence).toBe(FORK);
  expect(outlines).toEqual(await rowsOf(forked));
});

test('a block that is missing is read from its rows', async () => {
  await owner`delete from packed_outlines where conversation_id = ${scope.point.conversationId} and block = 2`;
  expect([...(await readOutlines(sql, scope))]).toEqual(await rowsOf(scope));
});

async function startLong() {
  const turn = await startTurn(sql);
  for (let call = 1; call <= 5; call += 1) await step(sql, turn, call);
  const written = 1 + 5 * 2;
  await sql`
    insert into entries (id, conversation_id, turn_id, epoch, kind, slot, content, measurements)
    select gen_random_uuid(), ${turn.conversationId}, ${turn.turnId}, ${turn.epoch},
      case n % 4 when 3 then 'note' else 'user' end, case n % 8 when 3 then 'plan' when 7 then 'memories' end, '[]'::json,
      row(n % 90, 1, 2, 0, 0, case when n > 1000 then n else 0 end, n * 1000000::bigint, 0, 0, 0, 1)::measurements
    from generate_series(1, ${ENTRIES - written}::int) as n order by n`;
  const [row] = await sql<{ last: number }[]>`
    select last_sequence as last from conversations where id = ${turn.conversationId}`;
  expect(row?.last).toBe(ENTRIES);
  return { turn };
}
