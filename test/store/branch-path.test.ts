import { describe, expect, it } from 'vitest';
import { getEntry, listEntries } from '../../src/store/log/entries.ts';
import { readPlanSource } from '../../src/store/compactions/fit-check.ts';
import { useTestStore, startTurn, step } from './support/store-builders.ts';
import { compact } from './support/compaction-builders.ts';

const { sql } = useTestStore();

describe('branches', () => {
  /** What a fork will do: a branch of its own from an entry on, by the rule that table branches describes. */
  async function fork(conversationId: string, branch: number, from: number, entryId: string): Promise<void> {
    const entry = await getEntry(sql, entryId);
    await sql.begin(async (open) => {
      await open`
        insert into branches (conversation_id, branch, ancestor, through_sequence)
        select conversation_id, ${branch}, ancestor, least(through_sequence, ${entry?.sequence ?? 0})
        from branches where conversation_id = ${conversationId} and branch = ${from}`;
      await open`
        insert into branches (conversation_id, branch, ancestor, through_sequence)
        values (${conversationId}, ${branch}, ${branch}, 2147483647)`;
      await open`update conversations set branch = ${branch}, head_entry_id = ${entryId} where id = ${conversationId}`;
    });
  }

  async function path(conversationId: string): Promise<number[]> {
    return (await listEntries(sql, { conversationId })).map(({ sequence }) => sequence);
  }

  it('show the entries of their own path, and a summary only where what it covers lies on it', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    for (let call = 1; call <= 3; call += 1) await step(sql, turn, call);
    const entries = await listEntries(sql, { conversationId });
    const compactionId = await compact(sql, turn);
    // 1 user, 2-7 three steps, 8 marker. Fork behind what the summary covers: it stays in force.
    await fork(conversationId, 1, 0, entries[4]?.id ?? '');
    await step(sql, turn, 4);
    expect(await path(conversationId)).toEqual([1, 2, 3, 4, 5, 9, 10]);
    const kept = await readPlanSource(sql, turn);
    expect(kept.summary?.compactionId).toBe(compactionId);
    expect([...kept.entries].map(({ sequence }) => sequence)).toEqual([4, 5, 9, 10]);
    // Fork of the fork, before the end of what the summary covers: it does not hold.
    await fork(conversationId, 2, 1, entries[0]?.id ?? '');
    await step(sql, turn, 5);
    expect(await path(conversationId)).toEqual([1, 11, 12]);
    const bare = await readPlanSource(sql, turn);
    expect(bare.summary).toBeNull();
    expect([...bare.entries].map(({ sequence }) => sequence)).toEqual([1, 11, 12]);
    const [row] = await sql<{ letters: string; own: string }[]>`
      select (e.sums).letters::text as letters, (select sum((o.measurements).letters) from entries o
        where o.conversation_id = e.conversation_id and o.sequence in (1, 11, 12))::text as own
      from entries e where e.conversation_id = ${conversationId} and e.sequence = 12`;
    expect(row?.letters).toBe(row?.own);
  });
});
