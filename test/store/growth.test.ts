import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { appendNote } from '../../src/store/entries.ts';
import { readFitCheck } from '../../src/store/fit-check.ts';
import { newId } from '../../src/store/ids.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { openTestStore, startTurn, text } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

/** What a step does must cost the same in a long conversation as in a short one. */
let store: TestStore;
let sql: Database;
let long: TurnReference;
let short: TurnReference;

beforeAll(async () => {
  store = await openTestStore(1);
  ({ sql } = store);
  [long, short] = [await startTurn(sql), await startTurn(sql)];
  // In transactions of 100: each entry leaves a version of its conversation's row until its transaction is over.
  for (let batch = 0; batch < 300; batch += 1) {
    await sql`
      insert into entries (id, conversation_id, turn_id, epoch, kind, slot, content, measurements)
      select gen_random_uuid(), ${long.conversationId}, ${long.turnId}, ${long.epoch}, 'note', 'plan',
        '[{"type":"text","text":"some text that fills a row"}]', row(20, 0, 6, 0, 0, 0, 26, 0, 0, 0, 1)::measurements
      from generate_series(1, 100)`;
  }
  await sql`analyze`;
}, 120_000);
afterAll(() => store.close());

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/** Medians of interleaved runs, in milliseconds: what else the machine does slows both alike. */
async function compare(work: (turn: TurnReference) => Promise<unknown>): Promise<{ long: number; short: number }> {
  const times = { long: [] as number[], short: [] as number[] };
  for (let run = 0; run < 80; run += 1) {
    for (const [name, turn] of [
      ['long', long],
      ['short', short],
    ] as const) {
      const started = performance.now();
      await work(turn);
      if (run >= 10) times[name].push(performance.now() - started);
    }
  }
  return { long: median(times.long), short: median(times.short) };
}

describe('a conversation of 30,000 entries', () => {
  it('takes an entry as fast as a short one', async () => {
    const times = await compare((turn) => appendNote(sql, { ...text('note'), turn, slot: 'plan', key: newId() }));
    expect(times.long).toBeLessThan(times.short * 1.5 + 0.3);
  });

  it('is checked against the window as fast as a short one, with as little read', async () => {
    const times = await compare((turn) => readFitCheck(sql, turn));
    expect(times.long).toBeLessThan(times.short * 1.5 + 0.3);
    expect((await readFitCheck(sql, long)).view.letters).toBeGreaterThan(600_000);
  });
});
