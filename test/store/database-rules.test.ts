import { describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../../src/store/database/database.ts';
import { writePieces } from '../../src/store/log/content-pieces.ts';
import { newId } from '../../src/store/database/ids.ts';
import { answer, finishToolCall, headOf, useTestStore, startTurn } from './support/store-builders.ts';
import { code, FOREIGN_KEY, CHECK, NOT_GRANTED, UNIQUE } from './support/refusals.ts';

const { sql } = useTestStore();

/** A note, with columns to be tampered with. */
function insertNote(
  queries: Database | Transaction,
  turn: { conversationId: string; turnId: string; epoch: number },
  tampered: { sequence?: number; parent?: string; epoch?: number; id?: string } = {},
) {
  return queries`
    insert into entries (id, conversation_id, turn_id, epoch, kind, slot, content, measurements, sequence, parent_id)
    values (${tampered.id ?? newId()}, ${turn.conversationId}, ${turn.turnId}, ${tampered.epoch ?? turn.epoch}, 'note',
      'plan', '[]', no_measurements(), ${tampered.sequence ?? null}, ${tampered.parent ?? null})`;
}

describe('entries', () => {
  it('cannot be changed, deleted or truncated', async () => {
    const turn = await startTurn(sql);
    const own = sql`conversation_id = ${turn.conversationId}`;
    expect(await code(sql`update entries set content = '[]' where ${own}`)).toBe(NOT_GRANTED);
    expect(await code(sql`delete from entries where ${own}`)).toBe(NOT_GRANTED);
    expect(await code(sql`truncate entries cascade`)).toBe(NOT_GRANTED);
    expect(await sql`select 1 from entries where ${own}`).toHaveLength(1);
  });

  it('keep their originals, and what was sent stays as it was sent', async () => {
    const turn = await startTurn(sql);
    const { contentId } = await writePieces(sql, turn.conversationId, [Buffer.from('whole')]);
    const pieces = sql`content_id = ${contentId}`;
    expect(await code(sql`update content_pieces set data = 'other' where ${pieces}`)).toBe(NOT_GRANTED);
    expect(await code(sql`delete from content_pieces where ${pieces}`)).toBe(NOT_GRANTED);
    expect(await code(sql`truncate content_pieces cascade`)).toBe(NOT_GRANTED);
    expect(await code(sql`update contents set bytes = 1 where id = ${contentId}`)).toBe('HF003');
    expect(await code(sql`delete from contents where id = ${contentId}`)).toBe(NOT_GRANTED);
    expect(await code(sql`truncate contents cascade`)).toBe(NOT_GRANTED);
    const sent = sql`conversation_id = ${turn.conversationId}`;
    expect(await code(sql`update messages set content = '[]' where ${sent}`)).toBe(NOT_GRANTED);
    expect(await code(sql`update messages set turn_id = null, consumed_at = null where ${sent}`)).toBe('HF003');
    expect(await code(sql`delete from messages where ${sent}`)).toBe(NOT_GRANTED);
    expect(await code(sql`truncate messages cascade`)).toBe(NOT_GRANTED);
  });

  it('are numbered without gaps, whatever number the writer wants', async () => {
    const turn = await startTurn(sql);
    expect(await code(insertNote(sql, turn, { sequence: 3 }))).toBe('HF004');
    expect(await code(insertNote(sql, turn, { sequence: 1 }))).toBe('HF004');
    await insertNote(sql, turn, { sequence: 2 });
    await insertNote(sql, turn);
    const rows = await sql`select sequence from entries where conversation_id = ${turn.conversationId} order by 1`;
    expect(rows.map((row) => row['sequence'])).toEqual([1, 2, 3]);
  });

  it('stay gapless when a transaction rolls back or an insert is dropped', async () => {
    const turn = await startTurn(sql);
    const head = await headOf(sql, turn.conversationId);
    await sql
      .begin(async (open) => {
        await insertNote(open, turn);
        throw new Error('changed my mind');
      })
      .catch(() => undefined);
    const dropped = (id: string, key: string) => sql`
      insert into entries (id, conversation_id, turn_id, epoch, kind, slot, note_key, content, measurements)
      values (${id}, ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, 'note', 'plan', ${key}, '[]', no_measurements())
      on conflict do nothing`;
    expect(await code(dropped(head, 'a'))).toBe(UNIQUE);
    await dropped(newId(), 'b');
    expect(await code(dropped(newId(), 'b'))).toBe(FOREIGN_KEY);
    await insertNote(sql, turn);
    const rows = await sql`select sequence from entries where conversation_id = ${turn.conversationId} order by 1`;
    expect(rows.map((row) => row['sequence'])).toEqual([1, 2, 3]);
  });

  it('follow each other when one statement inserts several', async () => {
    const turn = await startTurn(sql);
    await sql`
      insert into entries (id, conversation_id, turn_id, epoch, kind, slot, content, measurements)
      select gen_random_uuid(), ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, 'note', 'plan', '[]',
        row(n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)::measurements
      from generate_series(1, 50) n`;
    const rows = await sql<{ sequence: number; child: boolean; letters: number }[]>`
      select e.sequence, p.sequence = e.sequence - 1 as child,
        ((e.sums).letters - (p.sums).letters)::int as letters
      from entries e join entries p on p.id = e.parent_id
      where e.conversation_id = ${turn.conversationId} order by 1`;
    expect(rows.map((row) => row.sequence)).toEqual(Array.from({ length: 50 }, (_, index) => index + 2));
    expect(rows.every((row) => row.child)).toBe(true);
    expect(rows.map((row) => row.letters)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  it('take no parent but the head', async () => {
    const turn = await startTurn(sql);
    const head = await headOf(sql, turn.conversationId);
    await insertNote(sql, turn);
    expect(await code(insertNote(sql, turn, { parent: head }))).toBe('HF002');
    const other = await startTurn(sql);
    expect(await code(insertNote(sql, turn, { parent: await headOf(sql, other.conversationId) }))).toBe('HF002');
  });

  it('take no writer of another epoch', async () => {
    const turn = await startTurn(sql);
    expect(await code(insertNote(sql, turn, { epoch: turn.epoch - 1 }))).toBe('HF001');
    expect(await code(insertNote(sql, turn, { epoch: turn.epoch + 1 }))).toBe('HF001');
  });

  it('belong to a turn of the same conversation', async () => {
    const turn = await startTurn(sql);
    const other = await startTurn(sql);
    expect(await code(insertNote(sql, { ...turn, turnId: other.turnId }))).toBe(FOREIGN_KEY);
  });

  it('hold a tool result only for a call that was made, and one for each', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    const insertResult = (callIndex: number) => sql`
      insert into entries (id, conversation_id, turn_id, epoch, kind, call_number, call_index, tool_name, is_error, content, measurements)
      values (${newId()}, ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, 'tool_result', 1, ${callIndex}, 'x', false, '[]', no_measurements())`;
    expect(await code(insertResult(1))).toBe(FOREIGN_KEY);
    await finishToolCall(sql, turn, 1, 0);
    expect(await code(insertResult(0))).toBe(UNIQUE);
  });

  it('refuse columns of another kind', async () => {
    const turn = await startTurn(sql);
    const insertAs = (kind: string) => sql`
      insert into entries (id, conversation_id, turn_id, epoch, kind, content, measurements)
      values (${newId()}, ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, ${kind}, '[]', no_measurements())`;
    expect(await code(insertAs('note'))).toBe(CHECK);
    expect(await code(insertAs('assistant'))).toBe(CHECK);
    expect(await code(insertAs('tool_result'))).toBe(CHECK);
    expect(await code(insertAs('compaction'))).toBe(CHECK);
  });

  it('hold one answer per call, made by a registered attempt', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1);
    const insertAnswer = (callNumber: number) => sql`
      insert into entries (id, conversation_id, turn_id, epoch, kind, call_number, model_attempt, tool_call_count, content, measurements)
      values (${newId()}, ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, 'assistant', ${callNumber}, 1, 0, '[]', no_measurements())`;
    expect(await code(insertAnswer(1))).toBe(UNIQUE);
    expect(await code(insertAnswer(2))).toBe(FOREIGN_KEY);
  });
});

describe('conversations', () => {
  it('keep their epoch rising', async () => {
    const { conversationId } = await startTurn(sql);
    const own = sql`id = ${conversationId}`;
    expect(await code(sql`update conversations set epoch = epoch - 1 where ${own}`)).toBe('HF001');
  });

  it('point only at an entry and a turn of their own', async () => {
    const { conversationId } = await startTurn(sql);
    const other = await startTurn(sql);
    const foreign = await headOf(sql, other.conversationId);
    expect(await code(sql`update conversations set head_entry_id = ${foreign} where id = ${conversationId}`)).toBe(
      FOREIGN_KEY,
    );
    expect(
      await code(sql`update conversations set active_turn_id = ${other.turnId} where id = ${conversationId}`),
    ).toBe(FOREIGN_KEY);
  });

  it('have one open turn at most', async () => {
    const turn = await startTurn(sql);
    const second = sql.begin(async (open) => {
      await open`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
      await open`
        insert into turns (id, conversation_id, epoch, workflow_id, begun_by_run_id, run_id, worker_identity, agent,
          model, preset, snapshot_hash, limits)
        select ${newId()}, conversation_id, epoch + 1, 'w', ${newId()}, 'r', 'i', 'a', 'm', 'p', snapshot_hash, limits
        from turns where id = ${turn.turnId}`;
    });
    expect(await code(second)).toBe(UNIQUE);
  });
});

describe('references', () => {
  it('are all found by an index, so that a deletion reads no whole table', async () => {
    // Of a conversation, by more than its id: it may have a million rows.
    const bare = await sql`
      select conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition
      from (
        select f.*, array(
          select k from unnest(f.conkey) k join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k
          where a.attname not in ('conversation_id', 'tenant') or cardinality(f.conkey) = 1) as telling
        from pg_constraint f
        where f.contype = 'f' and f.conparentid = 0 and f.connamespace = 'holdfast'::regnamespace) f
      where not exists (
        select from pg_index i, unnest(i.indkey::int2[]) with ordinality as c (column_number, place)
        where i.indrelid = f.conrelid and c.column_number = any(f.telling)
          and (i.indkey::int2[])[0:c.place - 1] <@ f.conkey)`;
    expect(bare).toEqual([]);
  });
});

describe('the clock', () => {
  it('can be moved by a setting', async () => {
    const [row] = await sql.begin(async (open) => {
      await open`set local holdfast.clock_offset = '2 days'`;
      return open<
        { days: number }[]
      >`select round(extract(epoch from holdfast_now() - clock_timestamp()) / 86400)::int as days`;
    });
    expect(row?.days).toBe(2);
  });
});
