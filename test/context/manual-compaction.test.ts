import { describe, expect, test } from 'vitest';
import { estimateTokens } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import { OPENCODE_POLICY } from '../../src/context/policy/presets/opencode.ts';
import { Conversation, prose } from './builders.ts';
import { planOf, reading } from './planning.ts';

describe('manual', () => {
  test('makes a summary, also in a view that fits', () => {
    const conversation = reading(6, 8_000);
    conversation.log.answer('Done.');
    const plan = planOf(conversation, { reason: 'manual' });
    expect(plan.form).toBe('summary');
    expect(plan.requiredGain).toBe(1);
  });

  test('clips no message of the user when all fits without', () => {
    const conversation = new Conversation();
    conversation.log.user(`Read these one by one: ${prose(20_000)}`);
    for (let step = 0; step < 6; step += 1) conversation.log.step([prose(8_000, step)]);
    const plan = planOf(conversation, { reason: 'manual' });
    expect(plan.form).toBe('summary');
    expect(plan.keptSequences).toEqual([conversation.log.entries[0]?.sequence]);
    expect(plan.operations).toEqual([]);
  });

  test('R18 made again and again, a summary keeps the room that the one before took: what only that one says is not squeezed out', () => {
    const conversation = new Conversation({ limits: { window: 24_000, maximumOutput: 4_000 } });
    conversation.log.user(prose(5_000));
    for (let step = 0; step < 14; step += 1) conversation.log.step([prose(3_300, step)]);
    const said = prose(8_000);
    conversation.commit(planOf(conversation, { reason: 'manual' }), said);
    for (let pass = 1; pass <= 4; pass += 1) {
      for (let step = 0; step < 3; step += 1) conversation.log.step([prose(3_300, 20 * pass + step)]);
      const plan = planOf(conversation, { reason: 'manual' });
      // The list of results below it, which this text lacks, has a room of its own.
      expect(plan.summaryLimit).toBeGreaterThan(0.9 * estimateTokens(measureText(said), conversation.calibration));
      conversation.commit(plan, said);
    }
  });

  test('R18 after an overflow the tail yields before the summary does', () => {
    const conversation = new Conversation({ limits: { window: 24_000, maximumOutput: 4_000 } });
    conversation.log.user('Read all files.');
    for (let step = 0; step < 14; step += 1) conversation.log.step([prose(3_300, step)]);
    conversation.commit(planOf(conversation, { reason: 'manual' }), prose(8_000));
    for (let step = 0; step < 5; step += 1) conversation.log.step([prose(3_300, 20 + step)]);
    const { summaryLimit, form } = planOf(conversation, { reason: 'overflow' });
    expect(form).toBe('summary');
    // A view that overflowed though it seemed small has to become very small; alike with the tail, the summary would get 894 tokens.
    expect(summaryLimit).toBeGreaterThan(940);
  });

  test('P31 says that nothing is to do when a new summary could only be smaller by saying less than the one in force', () => {
    const conversation = new Conversation({
      policy: OPENCODE_POLICY,
      limits: { window: 200_000, maximumOutput: 32_000 },
    });
    conversation.log.user('Read all files.');
    for (let step = 0; step < 10; step += 1) conversation.log.step([prose(20_000, step)]);
    conversation.commit(planOf(conversation, { reason: 'manual' }), prose(90_000));
    conversation.log.step([prose(300, 100)]);
    expect(planCompaction(conversation.planInput('manual')).kind).toBe('fits');
    // One that a model failed to write is made shorter all the same.
    expect(planCompaction({ ...conversation.planInput('manual'), form: 'shorter_summary' }).kind).toBe('planned');
    conversation.log.step([prose(40_000, 101)]);
    const plan = planOf(conversation, { reason: 'manual' });
    expect(plan.form).toBe('summary');
    expect(plan.summaryLimit).toBeGreaterThan(estimateTokens(measureText(prose(90_000)), conversation.calibration));
  });
});
