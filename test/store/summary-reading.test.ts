import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commitCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { storePartText } from '../../src/store/compactions/compaction-parts.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { readPlanSource } from '../../src/store/compactions/fit-check.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { end, go } from './support/branch-builders.ts';
import { SUMMARY, commitRequest, plan, planWithCut } from './support/compaction-builders.ts';
import { continueConversation, send, startTurn, step, text, useTestStore } from './support/store-builders.ts';

const { sql } = useTestStore();

const path = async (conversationId: string): Promise<number[]> =>
  (await listEntries(sql, { conversationId })).map(({ sequence }) => sequence);

/** Summarizes the path up to an entry. */
async function compact(turn: TurnReference, covered: number, kept: number) {
  const [part] = planWithCut(covered + 1).parts;
  if (part === undefined) throw new Error('no part');
  const parts = [{ ...part, toSequence: covered }];
  const given = planWithCut(kept, { coveredThroughSequence: covered, parts });
  const { compaction } = await plan(sql, turn, given);
  const { compactionId } = compaction;
  await storePartText(sql, { turn, compactionId, part: 1, text: 'Goal', promptVersion: 'own@1', call: null });
  await commitCompaction(sql, commitRequest(turn, compactionId, { summary: { ...SUMMARY, text: compactionId } }));
  return compactionId;
}

async function fork(conversationId: string, at: number): Promise<TurnReference> {
  const entry = (await listEntries(sql, { conversationId })).find(({ sequence }) => sequence === at);
  await go(sql, conversationId, { entryId: entry?.id ?? null, summarizes: false });
  await send(sql, { conversationId, ...text('elsewhere') });
  return continueConversation(sql, conversationId);
}

describe('a summary in force', () => {
  it('never tells a view of an entry that is not on its path', async () => {
    const happening = fc.record({
      what: fc.constantFrom('step', 'step', 'compact', 'fork'),
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
            const compactionId = await compact(turn, covered, kept);
            made.push({
              compactionId,
              read: new Set([...sequences.filter((sequence) => sequence <= covered), ...earlier]),
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
