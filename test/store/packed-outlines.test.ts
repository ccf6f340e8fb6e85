import { expect, test } from 'vitest';
import { readOutlines } from '../../src/store/log/packed-outlines.ts';
import { startTurn, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

const ENTRIES = 1_700;

test('outlines in blocks are those of the rows: every kind and number, on each branch, and what is kept from before', async () => {
  const { conversationId } = await startTurn(sql);
  await sql.begin(async (open) => {
    // Neither the triggers that pack blocks nor foreign keys: the same entries are read before and after.
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      insert into entries (id, parent_id, conversation_id, sequence, branch, turn_id, epoch, kind, content, sums,
        slot, call_number, model_attempt, tool_call_count, call_index, tool_name, is_error, compaction_id, measurements)
      select gen_random_uuid(), gen_random_uuid(), ${conversationId}, n, case when n > 900 and n % 4 = 0 then 1 else 0 end,
        md5((n / 50)::text)::uuid, 1, kind, '[]'::json, row(n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)::measurements,
        case kind when 'note' then (array['rules', 'memories', 'continuation', 'plan'])[n / 7 % 4 + 1] end,
        case when kind in ('assistant', 'tool_result') then n end,
        case kind when 'assistant' then 1 end, case kind when 'assistant' then n % 5 end,
        case kind when 'tool_result' then n % 3 end, case kind when 'tool_result' then 'tool_' || n % 11 end,
        case kind when 'tool_result' then n % 2 = 0 end, case kind when 'compaction' then gen_random_uuid() end,
        row(n, n % 7, 70000 * (n % 2), 3, n % 9, n % 10, n + 1, n % 13, n % 3, n % 4, n % 6)::measurements
      from generate_series(2, ${ENTRIES}::int) as n,
        lateral (select (array['user', 'assistant', 'tool_result', 'note', 'branch_summary', 'compaction', 'user'])[n % 7 + 1]
          as kind) as of_entry`;
    await open`
      insert into branches (conversation_id, branch, ancestor, through_sequence)
      values (${conversationId}, 1, 0, 700), (${conversationId}, 1, 1, 2147483647)
      on conflict do nothing`;
  });
  const scopes = [0, 1].map((branch) => ({
    point: { conversationId, branch, headEntryId: '', headSequence: ENTRIES - 1 + branch, compactions: 0 },
    summary: null,
    fromSequence: 300,
    olderSequences: [2, 9],
  }));
  const read = () => Promise.all(scopes.map(async (scope) => Array.from(await readOutlines(sql, scope))));
  const rows = await read();
  await sql`select pack_outlines(${conversationId}, b) from generate_series(0, 5) as b`;
  expect(await read()).toEqual(rows);
  expect(rows.map((outlines) => outlines.length)).toEqual([1_203, 603]);
});
