import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { viewAfterCompaction } from '../../src/context/summary/whole-summary.ts';
import { judgeCompaction, planCompaction } from '../../src/context/plan/plan-compaction.ts';
import { measureContent } from '../../src/context/log/measure.ts';
import { summaryContent } from '../../src/context/summary/summary-message.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { WOLFFISH_POLICY } from '../../src/context/policy/presets/wolffish.ts';
import { Conversation, prose, viewText } from './builders.ts';
import { testEachPass, writtenSummary } from './chained.ts';
import { happen, happenings, limits } from './random-conversations.ts';

describe('compactions one after another over random conversations', () => {
  testEachPass({
    'R17 user messages stay verbatim, newest first, as far as their budget goes': (
      conversation,
      { plan, isForced },
    ) => {
      if (isForced || plan.firstKeptSequence === null) return;
      const text = viewText(conversation.view());
      const users = conversation.log.entries.filter((entry) => entry.kind === 'user').toReversed();
      // Rooms shrink in proportion when they do not fit together; a third of the budget is always left.
      let left = conversation.budget.userMessages / 3;
      for (const entry of users) {
        left -= estimateTokens(entry.measurements, NO_CALIBRATION);
        if (left < 0) break;
        expect(text.includes(JSON.stringify(textOf(entry.content)).slice(1, -1))).toBe(true);
      }
      const newest = users[0];
      expect(text.includes(textOf(newest?.content ?? []).slice(0, 12))).toBe(true);
    },
  });

  test('a summary that drops messages can follow one that stands beside them', () => {
    const conversation = new Conversation({ policy: WOLFFISH_POLICY });
    conversation.log.user('Read the files.');
    let inPlace = planCompaction(conversation.planInput());
    for (let step = 0; inPlace.kind !== 'planned' && step < 500; step += 1) {
      conversation.log.step([prose(4_000, step)]);
      inPlace = planCompaction(conversation.planInput());
    }
    if (inPlace.kind !== 'planned') throw new TypeError('the window must fill');
    conversation.commit(inPlace.plan, 'TASK: read');
    const result = planCompaction({ ...conversation.planInput('manual'), policy: DEFAULT_POLICY });
    expect(result).toMatchObject({ kind: 'planned', plan: { form: 'summary' } });
    const sequences =
      result.kind === 'planned' ? result.plan.parts.map(({ fromSequence }) => fromSequence ?? Infinity) : [];
    expect(Math.min(...sequences)).toBe(1);
  });

  test('projection is deterministic and what is appended changes nothing before it', () => {
    fc.assert(
      fc.property(happenings, limits, (events, modelLimits) => {
        const conversation = new Conversation({ limits: modelLimits });
        for (const [seed, event] of events.entries()) {
          const before = conversation.view();
          const last = conversation.log.entries.at(-1);
          happen(conversation, event, seed + 1);
          const after = conversation.view();
          expect(JSON.stringify(conversation.view())).toBe(JSON.stringify(after));
          if (last?.kind !== 'compaction') {
            expect(JSON.stringify({ ...after, messages: after.messages.slice(0, before.messages.length) })).toBe(
              JSON.stringify(before),
            );
          }
          const result = planCompaction(conversation.planInput());
          if (result.kind === 'planned') conversation.commit(result.plan, writtenSummary(result.plan, 1));
        }
      }),
      { numRuns: 10 },
    );
  });

  test('the judge of finished passes accepts what was planned when the summary kept to its limit', () => {
    fc.assert(
      fc.property(happenings, limits, (events, modelLimits) => {
        const conversation = new Conversation({ limits: modelLimits });
        for (const [seed, event] of events.entries()) {
          happen(conversation, event, seed + 1);
          const input = conversation.planInput();
          const result = planCompaction(input);
          if (result.kind !== 'planned') continue;
          const { plan } = result;
          const text = writtenSummary(plan, seed);
          const measurements = text === '' ? null : measureContent(summaryContent(text));
          const after = viewAfterCompaction(input, plan, 'next', measurements);
          const verdict = judgeCompaction({
            plan,
            budget: input.budget,
            tokensBefore: plan.tokensBefore,
            tokensAfter: estimateTokens(after, NO_CALIBRATION),
            lastForm: false,
          });
          expect(verdict).toBe('accepted');
          conversation.commit(plan, text);
        }
      }),
      { numRuns: 10 },
    );
  });
});
