import type { Queries, Transaction } from './database.ts';
import { transaction } from './transaction.ts';

/**
 * Queries whose plans keep to indexes, where Postgres would read a whole table: its estimates of what arrays and trigrams match say
 * nothing of the word that is asked for.
 */
export async function withoutTableScans<Result>(
  sql: Queries,
  work: (open: Transaction) => Promise<Result>,
): Promise<Result> {
  const within = async (open: Transaction): Promise<Result> => {
    await open`set local enable_seqscan = off`;
    const result = await work(open);
    // What follows in the same transaction is planned as ever; when `work` fails, the transaction does.
    await open`set local enable_seqscan to default`;
    return result;
  };
  if ('savepoint' in sql) return within(sql);
  return transaction(sql, within);
}
