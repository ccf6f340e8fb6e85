import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commitCompaction, replanCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { listSummaries } from '../../src/store/compactions/summaries.ts';
import { writePieces } from '../../src/store/log/content-pieces.ts';
import type { Database } from '../../src/store/database/database.ts';
import { newId } from '../../src/store/database/ids.ts';
import { SUMMARY, commitRequest, plan, planWithCut } from './support/compaction-builders.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { answer, finishToolCall, openTestStore, startTurn, step, text } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;
let conversationId: string;

const DOCUMENT = new URL('../../docs/read.md', import.meta.url);
const ODD = 'odd: NUL \0, lone \uD800, \\u0000 as written, 漢';

/** Entries 1 to 7; a summary in its second form covers the first three. */
beforeAll(async () => {
  store = await openTestStore();
  ({ sql } = store);
  const turn = await startTurn(sql, `You must keep the heron of Utrecht in /srv/birds/heron.txt. ${ODD}`);
  ({ conversationId } = turn);
  await answer(sql, turn, 1, { calls: 1, said: 'I look at the nest 4711.' });
  await finishToolCall(sql, turn, 1, 0, text('The nest 4711 hangs at 12.5 degrees.'));
  await step(sql, turn, 2);
  await step(sql, turn, 3);
  const { compaction } = await plan(sql, turn);
  const weaker = await replanCompaction(sql, {
    turn,
    compactionId: compaction.compactionId,
    failure: 'model_failed',
    nextCompactionId: newId(),
    plan: planWithCut(4, { form: 'shorter_summary' }),
  });
  await commitCompaction(
    sql,
    commitRequest(turn, weaker.compactionId, {
      summary: { ...SUMMARY, text: 'The heron of Utrecht; /srv/birds/heron.txt.\0\uD800' },
    }),
  );
});
afterAll(() => store.close());

describe('the views for psql', () => {
  it('say what docs/read.md promises: its examples run, each with rows', async () => {
    const examples = [...(await readFile(DOCUMENT, 'utf8')).matchAll(/```sql\n([\s\S]*?)```/g)].map(
      ([, query]) => query,
    );
    expect(examples).toHaveLength(4);
    for (const query of examples) {
      const rows = await sql.unsafe((query ?? '').replaceAll(":'conversation'", `'${conversationId}'`));
      expect(rows.length, query).toBeGreaterThan(0);
    }
  });

  it('describe every column', async () => {
    const missing = await sql`
      select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where c.relkind = 'v' and c.relnamespace = 'holdfast'::regnamespace and c.relname not like 'pg_stat%'
        and col_description(c.oid, a.attnum) is null`;
    expect(missing).toEqual([]);
  });

  it('show text as it is, with U+FFFD for what Postgres cannot read', async () => {
    const [first] = await sql<{ text: string; onActiveBranch: boolean }[]>`
      select text, on_active_branch from conversation_text where conversation_id = ${conversationId} and sequence = 1`;
    expect(first).toMatchObject({
      text: expect.stringContaining('odd: NUL \uFFFD, lone \uFFFD, \\u0000 as written, 漢'),
      onActiveBranch: true,
    });
    const [call] = await sql<{ text: string }[]>`
      select text from conversation_text where conversation_id = ${conversationId} and sequence = 2`;
    expect(call?.text).toBe('I look at the nest 4711.\n[call 0] read_file({})');
  });

  it('count what a generation covered, tried and cost', async () => {
    const [generation] = await sql`
      select generation, trigger, form, tries, covered_through_sequence, entries_covered, tokens_before, tokens_after, text
      from summaries where conversation_id = ${conversationId}`;
    expect(generation).toEqual({
      generation: 1,
      trigger: 'threshold',
      form: 'shorter_summary',
      tries: 2,
      coveredThroughSequence: 3,
      entriesCovered: 3,
      tokensBefore: 1_000,
      tokensAfter: 300,
      text: 'The heron of Utrecht; /srv/birds/heron.txt.\uFFFD\uFFFD',
    });
    const [listed] = await listSummaries(sql, { conversationId });
    expect(listed).toMatchObject({ tries: 2, entriesCovered: 3, model: 'sim/sim-32k', modelCalls: 0, cost: 0 });
  });
});

describe('the working files of a task', () => {
  let turn: TurnReference;
  const letter = (number: number): string => `letter ${number} `.repeat(8_000).slice(0, 62_000);
  const raw = Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.alloc(10_000, 'x')]);

  beforeAll(async () => {
    turn = await startTurn(sql, 'Read forty letters.');
    for (let call = 1; call <= 40; call += 1) {
      await answer(sql, turn, call, { calls: 1 });
      await finishToolCall(sql, turn, call, 0, text(letter(call)));
    }
    const original = await writePieces(sql, turn.conversationId, [raw]);
    await answer(sql, turn, 41, { calls: 1 });
    await finishToolCall(sql, turn, 41, 0, { ...text('clipped'), original });
  });

  it('W28 the task file shows 2,000 characters of each result and what is omitted: under 100 KB for 2.4 MB', async () => {
    const [file] = await sql<{ fileName: string; text: string; returned: number }[]>`
      select file_name, text, characters_returned::int as returned from task_files where turn_id = ${turn.turnId}`;
    expect(file?.fileName).toBe(`TASK-${turn.turnId}.md`);
    expect(file?.returned).toBeGreaterThan(2_400_000);
    expect(file?.text.length).toBeLessThan(100_000);
    expect(file?.text).toContain('Read forty letters.');
    expect(file?.text).toContain(letter(7).slice(0, 2_000));
    expect(file?.text).not.toContain(letter(7).slice(0, 2_020));
    expect(file?.text).toMatch(/\[60000 of 62000 characters omitted; entry [0-9a-f-]{36}\]/);
  });

  it('W29 the detail log holds every result whole, byte for byte', async () => {
    const details = await sql<{ output: Uint8Array }[]>`
      select output from task_details where turn_id = ${turn.turnId} order by step`;
    expect(details).toHaveLength(41);
    expect(Buffer.from(details[6]?.output ?? []).toString('utf8')).toBe(letter(7));
    expect(Buffer.compare(Buffer.from(details[40]?.output ?? []), raw)).toBe(0);
  });

  it('the detail log says what Postgres cannot hold of a short result', async () => {
    const odd = await startTurn(sql);
    await answer(sql, odd, 1, { calls: 1 });
    await finishToolCall(sql, odd, 1, 0, text('NUL \0, a lone surrogate \uD800, a \\u0000 that is none, ü'));
    const [details] = await sql<{ output: Uint8Array }[]>`
      select output from task_details where turn_id = ${odd.turnId}`;
    const shown = 'NUL \uFFFD, a lone surrogate \uFFFD, a \\u0000 that is none, ü';
    expect(Buffer.from(details?.output ?? []).toString('utf8')).toBe(shown);
  });
});
