import type { Database } from '../database.ts';
import type { GatheredPassage } from './gather.ts';
import type { PooledPassage } from './score-words.ts';

/**
 * Copies of a text that are kept, the newest, beside the best one, whose file the query may name: one may stand on a branch that was
 * left, and then the other is shown.
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

/** The same in their order, best first, without all but the best and the newest copies of each text of a kind. */
export async function withoutCopies(
  sql: Database,
  gathered: readonly GatheredPassage[],
): Promise<readonly GatheredPassage[]> {
  const rows = await sql<{ id: string }[]>`
    select id from (
      select p.id, row_number() over (partition by p.kind, md5(p.text) order by g.place) as place,
        row_number() over (partition by p.kind, md5(p.text) order by p.created_at desc, p.id desc) as copy
      from unnest(${gathered.map(({ id }) => id)}::bigint[]) with ordinality as g (id, place)
      join passages p on p.id = g.id) c
    where place = 1 or copy <= ${KEPT_COPIES}`;
  const kept = new Set(rows.map(({ id }) => Number(id)));
  return gathered.filter(({ id }) => kept.has(id));
}
