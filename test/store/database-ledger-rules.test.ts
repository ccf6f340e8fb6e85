import { describe, expect, it } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { answer, finishToolCall, headOf, useTestStore, startTurn, step } from './support/store-builders.ts';
import { code, FOREIGN_KEY, CHECK, NOT_GRANTED, UNIQUE } from './support/refusals.ts';

const { sql } = useTestStore();

describe('compactions', () => {
  async function plan(firstKeptSequence: number, turn: Awaited<ReturnType<typeof startTurn>>) {
    return sql`
      insert into compactions (id, conversation_id, turn_id, epoch, call_number, reason, preset, form, plan, head_entry_id,
        first_kept_sequence, covered_through_sequence, tokens_before)
      values (${newId()}, ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, 1, 'manual', 'p', 'summary', '{}',
        ${await headOf(sql, turn.conversationId)}, ${firstKeptSequence}, ${firstKeptSequence - 1}, 100)`;
  }

  it('cannot part a tool result from its call', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 2 });
    await finishToolCall(sql, turn, 1, 0);
    await finishToolCall(sql, turn, 1, 1);
    // user 1, answer 2, results 3 and 4
    expect(await code(plan(3, turn))).toBe('HF006');
    expect(await code(plan(4, turn))).toBe('HF006');
    expect(await code(plan(2, turn))).toBeUndefined();
  });

  it('keep entries of their own conversation only', async () => {
    const turn = await startTurn(sql);
    await step(sql, turn, 1);
    expect(await code(plan(9, turn))).toBe(FOREIGN_KEY);
    await plan(2, turn);
  });

  it('are one at a time, and commit only what is smaller and has a summary', async () => {
    const turn = await startTurn(sql);
    await step(sql, turn, 1);
    await plan(2, turn);
    expect(await code(plan(2, turn))).toBe(UNIQUE);
    const head = await headOf(sql, turn.conversationId);
    const commit = (tokens: number, summary: string | null) => sql`
      update compactions set status = 'committed', number = 1, marker_entry_id = ${head},
        view_after = no_measurements(), summary_measurements = no_measurements(),
        finished_at = now(),
        tokens_after = ${tokens}, summary = ${summary}::text::json
      where conversation_id = ${turn.conversationId}`;
    expect(await code(commit(100, '"text"'))).toBe(CHECK);
    expect(await code(commit(50, null))).toBe(CHECK);
    expect(await code(commit(50, '"  "'))).toBe(CHECK);
    await commit(50, '"text"');
    expect(
      await code(sql`update compactions set tokens_after = 1 where conversation_id = ${turn.conversationId}`),
    ).toBe('HF003');
    expect(await code(sql`delete from compactions where conversation_id = ${turn.conversationId}`)).toBe(NOT_GRANTED);
  });
});

describe('the ledger', () => {
  it('never takes a result back, nor an attempt', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    const own = sql`turn_id = ${turn.turnId}`;
    await sql`update tool_calls set state = 'claimed', attempt = 2, claimed_at = now() where ${own}`;
    expect(await code(sql`update tool_calls set attempt = 1 where ${own}`)).toBe('HF005');
    expect(await code(sql`update tool_calls set state = 'finished' where ${own}`)).toBe(CHECK);
    const other = await startTurn(sql);
    await step(sql, other, 1);
    expect(await code(sql`update tool_calls set outcome = 'failed' where turn_id = ${other.turnId}`)).toBe('HF005');
    expect(await code(sql`delete from tool_calls where ${own}`)).toBe(NOT_GRANTED);
  });

  it('numbers events without gaps and never changes them', async () => {
    const turn = await startTurn(sql);
    const insertEvent = (number: number | null) => sql`
      insert into events (conversation_id, epoch, kind, number) values (${turn.conversationId}, ${turn.epoch}, 'x', ${number})`;
    expect(await code(insertEvent(99))).toBe('HF004');
    await insertEvent(null);
    const rows = await sql`select number from events where conversation_id = ${turn.conversationId} order by 1`;
    expect(rows.map((row) => row['number'])).toEqual(rows.map((_, index) => index + 1));
    expect(await code(sql`update events set kind = 'y' where conversation_id = ${turn.conversationId}`)).toBe(
      NOT_GRANTED,
    );
    expect(await code(sql`delete from events where conversation_id = ${turn.conversationId}`)).toBe(NOT_GRANTED);
    expect(await code(sql`truncate events cascade`)).toBe(NOT_GRANTED);
  });
});

it('the application runs as a role that owns nothing and may do nothing beside its grants', async () => {
  const [role] = await sql<{ name: string; rights: boolean; owned: number }[]>`
    select current_user::text as name, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as rights,
      (select count(*)::int from pg_class where relowner = r.oid) as owned
    from pg_roles r where rolname = current_user`;
  expect(role).toEqual({ name: 'holdfast_app', rights: false, owned: 0 });
  const [owners] = await sql<{ owners: string[] }[]>`
    select array_agg(distinct relowner::regrole::text) as owners from pg_class
    where relnamespace = 'holdfast'::regnamespace and relkind in ('r', 'v', 'S')`;
  expect(owners?.owners).toEqual(['holdfast_owner']);
});

it('whose a row is, and what a model asked for, the application cannot change', async () => {
  const found = await sql`
    select relname || '.' || attname as name from pg_attribute a join pg_class c on c.oid = attrelid
    where relnamespace = 'holdfast'::regnamespace and has_column_privilege(c.oid, attnum, 'update')
      and (relname, attname::text) in (('conversations', 'tenant'), ('turns', 'snapshot_hash'), ('tool_calls', 'arguments'),
        ('decisions', 'conversation_id'), ('compactions', 'turn_id'))`;
  expect(found).toEqual([]);
});

it('what was logged the application can neither change nor delete', async () => {
  const rows = await sql<{ name: string; updates: boolean; deletes: boolean }[]>`
    select relname as name, has_any_column_privilege(oid, 'update') as updates, has_table_privilege(oid, 'delete, truncate') as deletes
    from pg_class where relnamespace = 'holdfast'::regnamespace and relkind = 'r'`;
  const namesOf = (which: (row: (typeof rows)[number]) => boolean): string[] =>
    rows.flatMap((row) => (which(row) ? [row.name] : [])).toSorted();
  expect(namesOf(({ updates, deletes }) => !updates && !deletes)).toEqual([
    'branch_summaries',
    'branches',
    'compaction_operations',
    'content_pieces',
    'entries',
    'events',
    'migrations',
    'packed_outlines',
  ]);
  expect(namesOf(({ updates, deletes }) => updates && !deletes)).toEqual([
    'agent_snapshots',
    'api_keys',
    'compaction_parts',
    'compactions',
    'contents',
    'conversations',
    'decisions',
    'deployment',
    'messages',
    'model_attempts',
    'tool_calls',
    'turns',
  ]);
});
