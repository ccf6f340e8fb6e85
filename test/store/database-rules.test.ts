import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../../src/store/database.ts';
import { newId } from '../../src/store/ids.ts';
import { storePlan } from '../../src/store/compactions.ts';
import {
  answer,
  finishToolCall,
  headOf,
  openTestStore,
  planWithCut,
  startTurn,
  step,
} from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

/** Every rule is attacked in plain SQL, as a program that does not use the store would. */
let store: TestStore;
let sql: Database;

beforeAll(async () => {
  store = await openTestStore();
  ({ sql } = store);
});
afterAll(() => store.close());

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

async function code(query: PromiseLike<unknown>): Promise<string | undefined> {
  try {
    await query;
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

const FOREIGN_KEY = '23503';
const CHECK = '23514';
const UNIQUE = '23505';

describe('entries', () => {
  it('cannot be changed, deleted or truncated', async () => {
    const turn = await startTurn(sql);
    const own = sql`conversation_id = ${turn.conversationId}`;
    expect(await code(sql`update entries set content = '[]' where ${own}`)).toBe('HF003');
    expect(await code(sql`delete from entries where ${own}`)).toBe('HF003');
    expect(await code(sql`truncate entries cascade`)).toBe('HF003');
    expect(await sql`select 1 from entries where ${own}`).toHaveLength(1);
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
  it('keep their counters out of the hands of writers, and their epoch rising', async () => {
    const { conversationId } = await startTurn(sql);
    const own = sql`id = ${conversationId}`;
    expect(await code(sql`update conversations set last_sequence = 7 where ${own}`)).toBe('HF004');
    expect(await code(sql`update conversations set last_event = 0 where ${own}`)).toBe('HF004');
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
          model, preset, snapshot, model_limits, policy, fixed)
        select ${newId()}, conversation_id, epoch + 1, 'w', ${newId()}, 'r', 'i', 'a', 'm', 'p', '{}', '{}', '{}', fixed
        from turns where id = ${turn.turnId}`;
    });
    expect(await code(second)).toBe(UNIQUE);
  });
});

describe('writes of a turn that was replaced', () => {
  it('are refused on every table, and an ended turn stays as it ended', async () => {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    const { compaction } = await storePlan(sql, {
      turn,
      callNumber: 2,
      compactionId: newId(),
      plan: planWithCut(2),
      reason: 'manual',
      preset: 'default',
      headEntryId: await headOf(sql, turn.conversationId),
    });
    await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
    const { turnId, conversationId, epoch } = turn;
    const attacks = {
      event: sql`insert into events (conversation_id, epoch, kind) values (${conversationId}, ${epoch}, 'x')`,
      toolCall: sql`update tool_calls set state = 'claimed', attempt = 1, claimed_at = now(), epoch = ${epoch} where turn_id = ${turnId}`,
      modelCall: sql`update model_calls set stop_reason = 'x', epoch = ${epoch} where turn_id = ${turnId}`,
      compaction: sql`update compactions set status = 'failed', failure = 'x', finished_at = now(), epoch = ${epoch} where id = ${compaction.compactionId}`,
      part: sql`update compaction_parts set attempt = 1, epoch = ${epoch} where compaction_id = ${compaction.compactionId}`,
      turn: sql`insert into turns (id, conversation_id, epoch, workflow_id, begun_by_run_id, run_id, worker_identity, agent, model, preset, snapshot, model_limits, policy, fixed)
        values (${newId()}, ${conversationId}, ${epoch}, 'w', 'b', 'r', 'i', 'a', 'm', 'p', '{}', '{}', '{}', no_measurements())`,
    };
    for (const [table, attack] of Object.entries(attacks))
      expect([table, await code(attack)]).toEqual([table, 'HF001']);
    await sql`update turns set outcome = 'interrupted', ended_at = now() where id = ${turnId}`;
    expect(await code(sql`update turns set outcome = 'completed' where id = ${turnId}`)).toBe('HF001');
    expect(await code(sql`update turns set run_id = 'other' where id = ${turnId}`)).toBe('HF001');
  });
});

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
    const other = await startTurn(sql);
    expect(await code(plan(9, turn))).toBe(FOREIGN_KEY);
    await plan(2, turn);
    const foreign = await headOf(sql, other.conversationId);
    const kept = sql`
      insert into compaction_kept_entries (compaction_id, conversation_id, entry_id)
      select id, conversation_id, ${foreign} from compactions where conversation_id = ${turn.conversationId}`;
    expect(await code(kept)).toBe(FOREIGN_KEY);
    const lying = sql`
      insert into compaction_kept_entries (compaction_id, conversation_id, entry_id)
      select id, ${other.conversationId}, ${foreign} from compactions where conversation_id = ${turn.conversationId}`;
    expect(await code(lying)).toBe(FOREIGN_KEY);
  });

  it('are one at a time, and commit only what is smaller and has a summary', async () => {
    const turn = await startTurn(sql);
    await step(sql, turn, 1);
    await plan(2, turn);
    expect(await code(plan(2, turn))).toBe(UNIQUE);
    const head = await headOf(sql, turn.conversationId);
    const commit = (tokens: number, summary: string | null) => sql`
      update compactions set status = 'committed', number = 1, marker_entry_id = ${head}, committed_head_entry_id = ${head},
        view_after = no_measurements(), summary_measurements = no_measurements(), finished_at = now(),
        tokens_after = ${tokens}, summary = ${summary}::text::json
      where conversation_id = ${turn.conversationId}`;
    expect(await code(commit(100, '"text"'))).toBe(CHECK);
    expect(await code(commit(50, null))).toBe(CHECK);
    expect(await code(commit(50, '"  "'))).toBe(CHECK);
    await commit(50, '"text"');
    expect(
      await code(sql`update compactions set tokens_after = 1 where conversation_id = ${turn.conversationId}`),
    ).toBe('HF003');
    expect(await code(sql`delete from compactions where conversation_id = ${turn.conversationId}`)).toBe('HF003');
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
    expect(await code(sql`delete from tool_calls where ${own}`)).toBe('HF003');
  });

  it('numbers events without gaps and never changes them', async () => {
    const turn = await startTurn(sql);
    const insertEvent = (number: number | null) => sql`
      insert into events (conversation_id, epoch, kind, number) values (${turn.conversationId}, ${turn.epoch}, 'x', ${number})`;
    expect(await code(insertEvent(99))).toBe('HF004');
    await insertEvent(null);
    const rows = await sql`select number from events where conversation_id = ${turn.conversationId} order by 1`;
    expect(rows.map((row) => row['number'])).toEqual(rows.map((_, index) => index + 1));
    expect(await code(sql`update events set kind = 'y' where conversation_id = ${turn.conversationId}`)).toBe('HF003');
    expect(await code(sql`delete from events where conversation_id = ${turn.conversationId}`)).toBe('HF003');
    expect(await code(sql`truncate events cascade`)).toBe('HF003');
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
