import { createHash } from 'node:crypto';
import { isId } from '../database/ids.ts';
import type { FileRow } from './read-file.ts';

const ID_COLUMN = /(?:^|_)id$/u;

/**
 * The id that stands in a tenant for one of a file. The same file gives the same ids, and none of another tenant: whoever knows one cannot
 * ask by an import whether it is there. The time at its beginning stays, so ids sort as before.
 */
export function ownId(tenant: string, id: string): string {
  const hash = createHash('sha256').update(`${tenant}\0${id.toLowerCase()}`).digest('hex');
  return `${id.slice(0, 15)}${hash.slice(0, 3)}-${id.slice(19, 20)}${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

/** A row with ids of the tenant. Memories keep theirs, which are of a tenant anyhow. */
export function withOwnIds(tenant: string, { table, row, line }: FileRow): FileRow {
  const columns = Object.entries(row).map(([name, value]) => {
    const isRenamed = ID_COLUMN.test(name) && !(table === 'memories' && name === 'id');
    return [name, isRenamed && typeof value === 'string' && isId(value) ? ownId(tenant, value) : value];
  });
  return { table, row: Object.fromEntries(columns), line };
}
