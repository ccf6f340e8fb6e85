import { expect, it } from 'vitest';
import type { Queries } from '../../src/store/database/database.ts';
import { transaction } from '../../src/store/database/transaction.ts';
import { withoutTableScans } from '../../src/store/memory/choose-memories.ts';
import { useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

async function scans(queries: Queries): Promise<unknown> {
  const [row] = await queries`select current_setting('enable_seqscan') as scans`;
  return row?.['scans'];
}

it('plans of its work alone keep to indexes, in a transaction of its own or in that of another', async () => {
  expect(await withoutTableScans(sql, scans)).toBe('off');
  expect(await scans(sql)).toBe('on');
  const seen = await transaction(sql, async (open) => [
    await withoutTableScans(open, scans),
    await scans(open),
    await withoutTableScans(open, scans),
  ]);
  expect(seen).toEqual(['off', 'on', 'off']);
});

it('what fails within it leaves the connection as it was', async () => {
  await expect(withoutTableScans(sql, (open) => open`select 1 / 0`)).rejects.toThrow('division by zero');
  expect(await scans(sql)).toBe('on');
});
