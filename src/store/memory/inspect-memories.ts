import type { Queries } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { memoryColumns, memoryIsInForce } from './memories.ts';
import type { MemoryScope, StoredMemory } from './memories.ts';

export async function listMemoriesOf(
  sql: Queries,
  request: {
    readonly tenant: string;
    readonly scope?: MemoryScope['scope'];
    readonly name?: string;
    /** Also those that were superseded or have expired. Default: false. */
    readonly all?: boolean;
    readonly limit: number;
  },
): Promise<StoredMemory[]> {
  const { tenant, scope, name, all, limit } = request;
  return sql<StoredMemory[]>`
    select ${memoryColumns(sql)} from memories m
    where m.tenant = ${tenant} ${scope === undefined ? sql`` : sql`and m.scope = ${scope}`}
      ${name === undefined ? sql`` : sql`and m.scope_name = ${name}`}
      ${all === true ? sql`` : sql`and ${memoryIsInForce(sql)}`}
    order by m.created_at desc, m.id desc limit ${limit}`;
}

export async function deleteMemory(
  sql: Queries,
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<boolean> {
  if (!isId(id)) return false;
  const { count } = await sql`delete from memories where tenant = ${tenant} and id = ${id}`;
  return count > 0;
}
