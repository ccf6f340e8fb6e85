import type { Database } from '../../src/store/database/database.ts';
import { transaction } from '../../src/store/database/transaction.ts';
import { writeMemory } from '../../src/store/memory/memories.ts';
import type { MemoryToInsert } from '../../src/store/memory/memories.ts';

/** By hand, in the name of no turn. */
export async function insertMemory(sql: Database, memory: MemoryToInsert): Promise<boolean> {
  return transaction(sql, (open) => writeMemory(open, memory));
}
