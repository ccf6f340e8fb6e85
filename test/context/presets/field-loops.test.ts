import { describe, expect, test } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import type { PlanInput } from '../../../src/context/plan/plan.ts';
import { BUILT_IN_PRESETS } from '../../../src/context/policy/presets/index.ts';
import { transcriptText } from '../../../src/context/summary/transcript.ts';
import { measureView } from '../../../src/context/view/view-arrangement.ts';
import { Conversation, prose } from '../builders.ts';
import { writtenSummary } from '../chained.ts';
import { countOf } from './support.ts';

const BASE64 = Buffer.alloc(1_050_000, 'holdfast').toString('base64');

// A giant message alone, and images alone, stand in bad-input.test.ts.
describe.each(BUILT_IN_PRESETS.map((policy) => [policy.name, policy] as const))(
  'loops of the field, %s',
  (_, policy) => {
    function reading(steps: number, size = 8_000): Conversation {
      const conversation = new Conversation({ policy });
      conversation.log.user('Read all files.');
      for (let step = 0; step < steps; step += 1) conversation.log.step([prose(size, step)]);
      return conversation;
    }

    const tokensOf = (input: PlanInput): number => estimateTokens(measureView(input), NO_CALIBRATION);

    test('R1 a system prompt above the threshold makes two compactions at most, however often the check is due', () => {
      const conversation = reading(14);
      const fixed = { ...NO_MEASUREMENTS, letters: conversation.budget.trigger * 4 };
      let passes = 0;
      for (; passes < 10; passes += 1) {
        const counted = { tokens: 10 ** 6, calibratedPerToken: 1, isDue: true };
        const result = planCompaction({ ...conversation.planInput(), fixed, counted });
        if (result.kind !== 'planned') break;
        conversation.commit(result.plan, writtenSummary(result.plan, passes));
      }
      expect(passes).toBeLessThanOrEqual(2);
    });

    test('R7 R22 summaries as long as they may be do not add up: each compaction leaves room for new work', () => {
      const conversation = reading(14);
      for (let pass = 0; pass < 6; pass += 1) {
        const result = planCompaction({
          ...conversation.planInput(),
          counted: { ...countOf(conversation), isDue: true },
        });
        if (result.kind !== 'planned') throw new Error(`pass ${pass}: ${result.kind}`);
        const limit = Math.max(1, result.plan.summaryLimit);
        conversation.commit(result.plan, result.plan.parts.length === 0 ? '' : prose(limit * 3, pass));
        expect(tokensOf(conversation.planInput())).toBeLessThanOrEqual(conversation.budget.trigger);
        for (let step = 0; step < 12; step += 1) conversation.log.step([prose(8_000, pass * 100 + step)]);
      }
    });

    test.each([2, 5, 9, 20])('R2 a recovery from an overflow after %d steps never sends a larger request', (steps) => {
      const conversation = reading(steps);
      const before = tokensOf(conversation.planInput());
      const result = planCompaction(conversation.planInput('overflow'));
      if (result.kind !== 'planned') return;
      expect(result.plan.tokensAfter).toBeLessThan(result.plan.tokensBefore);
      conversation.commit(result.plan, writtenSummary(result.plan, 1));
      expect(tokensOf(conversation.planInput())).toBeLessThan(before);
    });

    test('R8 1.4 MB of base64 is left out before a model is paid for summarizing it', () => {
      const conversation = reading(3);
      const [, encoded] = conversation.log.step([BASE64]);
      for (let step = 0; step < 8; step += 1) conversation.log.step([prose(8_000, step + 10)]);
      const result = planCompaction({ ...conversation.planInput('overflow'), form: 'summary' });
      if (result.kind !== 'planned') throw new Error(result.kind);
      const asked = result.plan.parts.reduce((sum, part) => sum + part.inputTokens, 0);
      expect(asked).toBeLessThan(2 * conversation.budget.window);
      if (encoded === undefined) throw new Error('no result');
      const text = transcriptText({
        entries: [encoded],
        maximumTokens: 10_000,
        calibration: NO_CALIBRATION,
        limits: { ...policy.summary.transcript, toolResult: null, total: null },
      });
      expect(text.length).toBeLessThan(500);
      expect(text).toContain('1,399,940 characters of encoded data left out');
    });
  },
);
