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
    expect(await entriesRead()).toBeLessThanOrEqual(1.2 * early);
  } finally {
    await store.close();
  }
});
