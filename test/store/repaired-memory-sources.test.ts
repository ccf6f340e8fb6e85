import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { listEntries } from '../../src/store/entries.ts';
import { newId } from '../../src/store/ids.ts';
import { verify } from '../../src/verify/verify.ts';
import { plan, turnWithSteps } from './support/compaction-builders.ts';
import { headOf, startTurn, useTestStore } from './support/store-builders.ts';

const MIGRATION = new URL('../../migrations/000086_sources_of_memories.sql', import.meta.url);

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

test('what earlier versions named as the source of a memory is repaired: the answer that had it remembered, or nothing where it never was stored', async () => {
  const turn = await turnWithSteps(sql);
  const { conversationId } = turn;
  const { compaction } = await plan(sql, turn);
  const { compactionId } = compaction;
  const [asked, answered, result, , read] = (await listEntries(sql, { conversationId })).map(({ id }) => id);
  const foreign = await headOf(sql, (await startTurn(sql)).conversationId);
  // They named the result of `remember`, stored or not, and compactions; by hand anything may be named.
  const sources = [result, newId(), compactionId, asked, read, foreign];
  await sql`drop trigger memories_source on memories`;
  await sql`drop function leave_out_missing_source()`;
  await sql.begin(async (open) => {
    await open`set local session_replication_role = replica`;
    await open`update tool_calls set name = 'remember' where result_entry_id = ${result ?? ''}`;
  });
  for (const [index, source] of sources.entries())
    await sql`
      insert into memories (id, scope, scope_name, kind, text, origin, conversation_id, source_id)
      values (${newId()}, 'user', 'ada', 'fact', ${JSON.stringify(String(index))}::text::json, 'model', ${conversationId}, ${source ?? null})`;
  const breaches = async (): Promise<number | undefined> =>
    (await verify(sql)).invariants.find(({ name }) => name === 'memory_has_its_source')?.breaches.length;
  expect(await breaches()).toBe(2);
  await sql.unsafe(await readFile(MIGRATION, 'utf8'));
  const rows = await sql<{ source_id: string | null }[]>`select source_id from memories order by text::text`;
  expect(rows.map((row) => row.source_id)).toEqual([answered, null, compactionId, asked, read, null]);
  expect(await breaches()).toBe(0);
});
