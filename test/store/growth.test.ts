import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readsDuring } from '../../dev/bench/table-reads.ts';
import type { Database } from '../../src/store/database/database.ts';
import { appendNote } from '../../src/store/log/entries.ts';
import { readFitCheck } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openTestStore, startTurn, text } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

/** What a step does must cost the same in a long conversation as in a short one. */
let store: TestStore;
let sql: Database;
let owner: Database;
let long: TurnReference;
let short: TurnReference;

beforeAll(async () => {
  store = await openTestStore(1);
  ({ sql, owner } = store);
  [long, short] = [await startTurn(sql), await startTurn(sql)];
  // In transactions of 100: each entry leaves a version of its conversation's row until its transaction is over.
  for (let batch = 0; batch < 40; batch += 1) {
    await sql`
      insert into entries (id, conversation_id, turn_id, epoch, kind, slot, content, measurements)
      select gen_random_uuid(), ${long.conversationId}, ${long.turnId}, ${long.epoch}, 'note', 'plan',
        '[{"type":"text","text":"some text that fills a row"}]', row(20, 0, 6, 0, 0, 0, 26, 0, 0, 0, 1)::measurements
      from generate_series(1, 100)`;
  }
});
afterAll(() => store.close());

/** Rows that Postgres reads for 21 times the same, through indexes or by scans, by table. */
async function rowsRead(work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  // The first plans of a statement are made for its values, and look for the ends of indexes while they are.
  for (let run = 0; run < 6; run += 1) await work();
  const reads = await readsDuring(
    sql,
    async () => {
      for (let run = 0; run < 21; run += 1) await work();
    },
    { isAlone: true },
  );
  const rows = reads.map(({ table, scanned, fetched }) => [table, scanned + fetched] as const);
  return Object.fromEntries(rows.filter(([, count]) => count > 0));
}

function sumOf(rows: Readonly<Record<string, number>>): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}

/**
 * Indexes still name the versions of before, which the work leaves too, until they are vacuumed as autovacuum would in time. While another
 * vacuum or analysis is under way they stay, so it is looked again.
 */
async function expectAsLittle(ofLong: () => Promise<unknown>, ofShort: () => Promise<unknown>): Promise<void> {
  let reads = { long: {}, short: {} };
  await waitUntil('a long one takes no more than a short one', async () => {
    // A vacuum that finds little to do leaves the indexes out.
    await owner`vacuum (analyze, index_cleanup on)`;
    const short = await rowsRead(ofShort);
    expect(sumOf(short)).toBeGreaterThan(0);
    reads = { short, long: await rowsRead(ofLong) };
    return sumOf(reads.long) <= sumOf(short);
  }).catch((error: unknown) => {
    throw new Error(
      `read of the long one ${JSON.stringify(reads.long)}, of the short one ${JSON.stringify(reads.short)}`,
      {
        cause: error,
      },
    );
  });
}

/** How long it takes is measured by `npm run bench -- growth planning`. */
describe('a conversation of 4,000 entries', () => {
  const append = (turn: TurnReference) => () => appendNote(sql, { ...text('note'), turn, slot: 'plan', key: newId() });
  const check = (turn: TurnReference) => () => readFitCheck(sql, turn);

  it('takes an entry with as little read as a short one', async () => {
    await expectAsLittle(append(long), append(short));
  });

  it('is checked against the window with as little read as a short one', async () => {
    await expectAsLittle(check(long), check(short));
    expect((await readFitCheck(sql, long)).view.letters).toBeGreaterThan(80_000);
  });
});
