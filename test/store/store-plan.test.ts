import { describe, expect, it } from 'vitest';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { listParts } from '../../src/store/compactions/compaction-parts.ts';
import { getCompaction, storePlan } from '../../src/store/compactions/compactions.ts';
import { appendNote } from '../../src/store/log/entries.ts';
import { readFitCheck } from '../../src/store/compactions/fit-check.ts';
import { newId } from '../../src/store/database/ids.ts';
import { headOf, text, useTestStore } from './support/store-builders.ts';
import { planWithCut, plan, turnWithSteps } from './support/compaction-builders.ts';

const { sql } = useTestStore();

describe('storePlan', () => {
  it('stores what a plan is and gives it back whole', async () => {
    const turn = await turnWithSteps(sql);
    const head = await headOf(sql, turn.conversationId);
    const given = planWithCut(4, {
      keptSequences: [1],
      operations: [
        {
          entryId: head,
          kind: 'clip',
          headCharacters: 10,
          tailCharacters: 0,
          measurements: { ...NO_MEASUREMENTS, letters: 3 },
        },
      ],
    });
    const { compaction, joined } = await plan(sql, turn, given);
    expect(joined).toBe(false);
    expect(compaction).toMatchObject({
      status: 'planned',
      formNumber: 1,
      plan: given,
      headEntryId: head,
      previousCompactionId: null,
    });
    expect((await listParts(sql, compaction.compactionId)).map(({ part }) => part)).toEqual(given.parts);
  });

  it('R4 joins the plan that is under way, also from two callers at once', async () => {
    const turn = await turnWithSteps(sql);
    const plans = await Promise.all([plan(sql, turn), plan(sql, turn)]);
    expect(plans.filter(({ joined }) => joined)).toHaveLength(1);
    expect(new Set(plans.map(({ compaction }) => compaction.compactionId)).size).toBe(1);
    expect((await readFitCheck(sql, turn)).plannedCompactionId).toBe(plans[0]?.compaction.compactionId);
  });

  it('abandons a plan under which something was appended, for one of the head that is', async () => {
    const turn = await turnWithSteps(sql);
    const { compaction: old } = await plan(sql, turn);
    await appendNote(sql, { ...text('Near the limit.'), turn, slot: 'continuation', key: 'limit' });
    const { compaction, joined } = await plan(sql, turn);
    expect(joined).toBe(false);
    expect(await getCompaction(sql, old.compactionId)).toMatchObject({ status: 'abandoned' });
    expect(compaction).toMatchObject({ status: 'planned', headEntryId: await headOf(sql, turn.conversationId) });
  });

  it('refuses another head, a split group, a foreign entry and an old epoch', async () => {
    const turn = await turnWithSteps(sql);
    const other = await turnWithSteps(sql);
    const foreign = await headOf(sql, other.conversationId);
    const request = {
      turn,
      callNumber: 3,
      compactionId: newId(),
      plan: planWithCut(4),
      reason: 'manual' as const,
      preset: 'default',
      headEntryId: foreign,
    };
    await expect(storePlan(sql, request)).rejects.toMatchObject({ code: 'head_moved' });
    await expect(plan(sql, turn, planWithCut(5))).rejects.toMatchObject({ code: 'group_split' });
    const operation = { entryId: foreign, kind: 'clear' as const, measurements: NO_MEASUREMENTS };
    await expect(plan(sql, turn, planWithCut(4, { operations: [operation] }))).rejects.toMatchObject({
      code: 'entry_not_found',
    });
    await expect(plan(sql, { ...turn, epoch: 0 })).rejects.toMatchObject({ code: 'stale_epoch' });
    expect((await readFitCheck(sql, turn)).plannedCompactionId).toBeNull();
  });
});
