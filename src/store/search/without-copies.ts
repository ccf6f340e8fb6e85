import type { Database } from '../database.ts';
import type { GatheredPassage } from './gather.ts';
import type { PooledPassage } from './score-words.ts';

/**
 * Copies of a text that are kept, the newest: one may stand on a branch that was left, and then the other is shown.
 */
const KEPT_COPIES = 2;

/**
 * Whether so few of a pool may be of different texts that copies may have taken the place of others: by what was read of them
 * anyhow, and only where that looks like it by their texts.
 */
export async function isFullOfCopies(sql: Database, pool: readonly PooledPassage[], wanted: number): Promise<boolean> {
  if (countOutlines(pool) >= wanted) return false;
  const [row] = await sql<{ texts: number }[]>`
    select count(distinct md5(text))::int as texts from passages where id = any(${pool.map(({ id }) => id)}::bigint[])`;
  return (row?.texts ?? 0) < wanted;
}

function countOutlines(pool: readonly PooledPassage[]): number {
  return new Set(pool.map(({ kind, words, found }) => `${kind} ${words} ${found}`)).size;
}

/** The same in their order without all but the newest copies of each text of a kind. */
export async function withoutCopies(
  sql: Database,
  gathered: readonly GatheredPassage[],
): Promise<readonly GatheredPassage[]> {
  const rows = await sql<{ id: string }[]>`
    select id from (
      select id, row_number() over (partition by kind, md5(text) order by created_at desc, id desc) as copy
      from passages where id = any(${gathered.map(({ id }) => id)}::bigint[])) c
    where copy <= ${KEPT_COPIES}`;
  const kept = new Set(rows.map(({ id }) => Number(id)));
  return gathered.filter(({ id }) => kept.has(id));
}
