import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commitCompaction } from '../../src/store/compactions/compactions.ts';
import { storePartText } from '../../src/store/compactions/compaction-parts.ts';
import type { Database } from '../../src/store/database/database.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { readPlanSource } from '../../src/store/compactions/fit-check.ts';
import { readLineage } from '../../src/store/compactions/lineage.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { end, go } from './support/branch-builders.ts';
import { SUMMARY, commitRequest, plan, planWithCut } from './support/compaction-builders.ts';
import { continueConversation, send, startTurn, step, text, useTestStore } from './support/store-builders.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

const path = async (conversationId: string): Promise<number[]> =>
  (await listEntries(sql, { conversationId })).map(({ sequence }) => sequence);

type Request = 'shared_prefix' | 'transcript';

/** Summarizes the path up to an entry; returns the compaction and the sequence of the head that it was planned at. */
async function compact(turn: TurnReference, covered: number, kept: number, request: Request) {
  const [part] = planWithCut(covered + 1).parts;
  if (part === undefined) throw new Error('no part');
  const parts = [{ ...part, toSequence: covered }];
  const given = planWithCut(kept, { coveredThroughSequence: covered, parts });
  const head = (await path(turn.conversationId)).at(-1) ?? 0;
  const { compaction } = await plan(sql, turn, given);
  const { compactionId } = compaction;
  const promptVersion = `${request}@1`;
  await storePartText(sql, { turn, compactionId, part: 1, text: 'Goal', promptVersion, request, call: null });
  await commitCompaction(sql, commitRequest(turn, compactionId, { summary: { ...SUMMARY, text: compactionId } }));
  return { compactionId, head };
}

async function fork(conversationId: string, at: number): Promise<TurnReference> {
  const entry = (await listEntries(sql, { conversationId })).find(({ sequence }) => sequence === at);
  await go(sql, conversationId, { entryId: entry?.id ?? null, summarizes: false });
  await send(sql, { conversationId, ...text('elsewhere') });
  return continueConversation(sql, conversationId);
}

describe('a summary that was asked behind the last request', () => {
  it('is in force only where the newest entry that it read lies, and before it the one that read less', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    // 1 user, 2 to 7 three steps.
    for (let call = 1; call <= 3; call += 1) await step(sql, turn, call);
    const early = await compact(turn, 3, 4, 'transcript');
    await step(sql, turn, 4);
    const late = await compact(turn, 5, 6, 'shared_prefix');
    expect((await readPlanSource(sql, turn)).summary?.compactionId).toBe(late.compactionId);
    const lineage = await readLineage(sql, conversationId);
    expect(lineage.map(({ readThroughSequence }) => readThroughSequence)).toEqual([3, 10]);
    expect(
      await sql`
        select generation, read_through_sequence as through from compaction_lineage
        where conversation_id = ${conversationId} order by generation`,
    ).toEqual([
      { generation: 1, through: 3 },
      { generation: 2, through: 10 },
    ]);
    await end(sql, turn);
    // Behind the cut of both, and before what the later one read.
    const elsewhere = await fork(conversationId, 7);
    const source = await readPlanSource(sql, elsewhere);
    expect(source.summary?.compactionId).toBe(early.compactionId);
    expect([...source.entries].map(({ sequence }) => sequence).slice(0, 4)).toEqual([4, 5, 6, 7]);
  });

  it('hands on what it read to the summary that updates it', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    for (let call = 1; call <= 3; call += 1) await step(sql, turn, call);
    await compact(turn, 3, 4, 'shared_prefix');
    await compact(turn, 5, 6, 'transcript');
    await end(sql, turn);
    expect((await readPlanSource(sql, await fork(conversationId, 5))).summary).toBeNull();
  });

  it('never tells a view of an entry that is not on its path', async () => {
    const happening = fc.record({
      what: fc.constantFrom('step', 'step', 'shared_prefix', 'transcript', 'fork'),
      where: fc.nat(1_000),
    } as const);
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 12, maxLength: 20 }), async (happenings) => {
        let turn = await startTurn(sql);
        const { conversationId } = turn;
        const made: { readonly compactionId: string; readonly read: ReadonlySet<number> }[] = [];
        const inForce = (on: readonly number[]) =>
          made.findLast(({ read }) => [...read].every((sequence) => on.includes(sequence)));
        for (const [index, { what, where }] of happenings.entries()) {
          await step(sql, turn, index + 1);
          const now = await listEntries(sql, { conversationId });
          const sequences = now.map(({ sequence }) => sequence);
          const cuts = now.filter(({ kind }, at) => at > 0 && (kind === 'user' || kind === 'assistant'));
          if (what === 'fork') {
            await end(sql, turn);
            turn = await fork(conversationId, sequences[where % sequences.length] ?? 1);
          } else if (what !== 'step') {
            const kept = cuts[where % cuts.length]?.sequence ?? 1;
            const covered = sequences[sequences.indexOf(kept) - 1] ?? 1;
            const earlier = inForce(sequences)?.read ?? [];
            const { compactionId, head } = await compact(turn, covered, kept, what);
            const through = what === 'shared_prefix' ? head : covered;
            made.push({
              compactionId,
              read: new Set([...sequences.filter((sequence) => sequence <= through), ...earlier]),
            });
          }
          const shown = (await readPlanSource(sql, turn)).summary?.compactionId;
          expect(shown).toBe(inForce(await path(conversationId))?.compactionId);
        }
      }),
      { numRuns: 4, seed: 7, endOnFailure: true },
    );
  });
});
