import { stemsOf } from '../../context/memory/choose-memories.ts';
import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { Fragment, Queries, Transaction } from '../database/database.ts';
import { stemTerms, wholeTextTerm } from './memory-terms.ts';
import {
  lockMemories,
  memoryColumns,
  memoryIsInForce,
  memoryIsOfScopes,
  renewMemory,
  writeMemory,
} from './memories.ts';
import type { MemoryScope, MemoryToInsert, StoredMemory } from './memories.ts';
import { memoryIsOfAnotherUser } from './memory-users.ts';
import { transaction } from '../database/transaction.ts';

/** Words of a goal that are looked up, its first. After a compaction it is some pages long. */
const MOST_STEMS = 300;
/** Memories that are looked up for a word: of one that more of them have, only a part, for it tells little. */
const MOST_OF_WORD = 1_000;

export interface MemoryChoice {
  readonly scopes: readonly MemoryScope[];
  /** Whole summaries, or all else. */
  readonly isSummary: boolean;
  readonly goal: string;
  /** Those that share words with the goal, rare ones counting more. */
  readonly matching: number;
  /** The newest, whatever they say. */
  readonly newest: number;
  /** The newest preferences, whatever they say. */
  readonly preferences: number;
}

/**
 * Of all memories of these scopes that are in force, however old, those worth ranking for a goal; newest first. Bounded, whatever the
 * scopes hold: each word of the goal is looked up in an index, and words that few memories have count more.
 */
export async function chooseMemories(sql: Queries, choice: MemoryChoice): Promise<StoredMemory[]> {
  const { scopes, isSummary, goal, matching, newest, preferences } = choice;
  const stems = [...new Set(stemsOf(goal))].slice(0, MOST_STEMS);
  const terms = scopes.flatMap((scope) => stemTerms({ ...scope, isSummary }, stems));
  const isAsked = sql`m.kind ${isSummary ? sql`=` : sql`<>`} 'summary' and ${memoryIsInForce(sql)}`;
  const isPreferred = sql`m.kind = 'preference' and ${memoryIsInForce(sql)}`;
  // Postgres expects a word in one of 200 memories, whichever it is: among some 100,000 it takes a scan to be sooner done, and is wrong.
  return withoutTableScans(
    sql,
    (open) => open<StoredMemory[]>`
    with scopes as (
      select * from unnest(
        ${scopes.map(({ tenant }) => tenant ?? DEFAULT_TENANT)}::text[], ${scopes.map(({ scope }) => scope)}::text[],
        ${scopes.map(({ scopeName }) => scopeName)}::text[]) as s (tenant, scope, name)),
    looked_up as (
      select w.ids, ln(1 + ${MOST_OF_WORD}::float8 / cardinality(w.ids)) as weight
      from unnest(${terms}::text[]) as t (term) cross join lateral (
        select array_agg(l.id) as ids from (
          select m.id from memories m where m.terms @> array[t.term] and ${isAsked} limit ${MOST_OF_WORD}) l) w
      where w.ids is not null),
    best as (
      select w.id, sum(l.weight) as weight from looked_up l cross join unnest(l.ids) as w (id)
      group by w.id order by 2 desc, 1 desc limit ${2 * matching}),
    chosen as (
      (select b.id from best b join memories m on m.id = b.id and ${memoryIsOfScopes(sql, scopes)}
        order by b.weight * m.confidence desc, b.id desc limit ${matching})
      union (${newestOf(sql, isAsked, newest)})
      union (${newestOf(sql, isPreferred, preferences)}))
    select ${memoryColumns(sql)} from memories m where m.id in (select c.id from chosen c) and ${memoryIsOfScopes(sql, scopes)}
    order by m.created_at desc, m.id desc`,
  );
}

/** Of each scope by itself: an index has them in order of time. */
function newestOf(sql: Queries, condition: Fragment, limit: number) {
  return sql`
    select n.id from scopes s cross join lateral (
      select m.id, m.created_at from memories m
      where m.tenant = s.tenant and m.scope = s.scope and m.scope_name = s.name and ${condition}
      order by m.created_at desc limit ${limit}) n
    order by n.created_at desc, n.id desc limit ${limit}`;
}

/**
 * Remembers a statement: one that is in force in the same words is stated again, by `renewMemory`, and any other is written. Of
 * two that state the same at once, the second states again. What another user said stays his, and is written anew.
 * @returns the memory's own id, which is not the given one when it was remembered before
 * @throws StoreError `memory_not_found` when it supersedes what its scope does not have; `memory_of_another_user`
 */
export async function stateMemory(
  open: Transaction,
  memory: MemoryToInsert,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  await lockMemories(open, memory);
  const known = await findMemoryOfText(open, memory);
  if (known !== null && (await renewMemory(open, { ...memory, id: known }))) {
    // Its own: written by an attempt that died before it could say so.
    return { id: known, isNew: known === memory.id };
  }
  return { id: memory.id, isNew: await writeMemory(open, memory) };
}

/** The memory of a scope that is in force and says exactly this, and is not what another user said; `null` when there is none. */
async function findMemoryOfText(
  sql: Queries,
  { tenant = DEFAULT_TENANT, scope, scopeName, text, statedFor }: MemoryToInsert,
): Promise<string | null> {
  const own = { tenant, scope, scopeName };
  const terms = [false, true].map((isSummary) => wholeTextTerm({ ...own, isSummary }, text));
  const rows = await sql<{ id: string; text: string }[]>`
    select m.id, m.text from memories m
    where m.terms && ${terms}::text[] and ${memoryIsOfScopes(sql, [own])} and ${memoryIsInForce(sql)}
      ${statedFor === undefined ? sql`` : sql`and not ${memoryIsOfAnotherUser(sql, statedFor)}`}
    order by m.created_at desc, m.id desc`;
  return rows.find((memory) => memory.text === text)?.id ?? null;
}

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
