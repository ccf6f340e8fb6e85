import { expect, test } from 'vitest';
import { readsDuring } from '../../dev/bench/table-reads.ts';
import { openTestStore, startTurn, step } from './support/store-builders.ts';

/** Entries are looked up by foreign keys, too, with a plan that a connection makes once: when the table was empty all indexes were as good. */
test('a step reads no more entries the longer its conversation is, by plans that were made in an empty database', async () => {
  const store = await openTestStore(1);
  try {
    const { sql } = store;
    const turn = await startTurn(sql);
    let number = 0;
    const tenSteps = async (): Promise<void> => {
      const last = number + 10;
      while (number < last) await step(sql, turn, (number += 1));
    };
    const entriesRead = async (): Promise<number> => {
      const reads = await readsDuring(sql, tenSteps, { isAlone: true });
      return reads.find(({ table }) => table === 'entries')?.fetched ?? 0;
    };
    await tenSteps();
    const early = await entriesRead();
    for (let tens = 0; tens < 8; tens += 1) await tenSteps();
    const late = await entriesRead();
    const [stored] = await sql<{ count: number }[]>`select count(*)::int as count from entries`;
    // Such a plan looks through the conversation at each step; a few rows more or fewer tell nothing.
    expect(late - early).toBeLessThan(stored?.count ?? 0);
  } finally {
    await store.close();
  }
});
