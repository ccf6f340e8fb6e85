import { describe, expect, test } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/estimate.ts';
import { BUILT_IN_PRESETS } from '../../../src/context/presets/index.ts';
import { AGENT, viewText } from '../builders.ts';
import { property, tokensOf } from '../chained.ts';
import { happenings } from '../random-conversations.ts';
import { expectPaired, measuredFromText } from '../view-checks.ts';

/** Random conversations per preset and rule. */
const RUNS = 12;

// A forced pass may clip a plan for good, because nothing else is left to shrink.
const withoutOverflows = happenings.map((events) => events.filter((event) => event.kind !== 'overflow'));

describe.each(BUILT_IN_PRESETS.map((policy) => [policy.name, policy] as const))('%s', (_name, policy) => {
  const options = { policy, runs: RUNS };

  test('R10 every call keeps its result, in call order, over chained passes', () => {
    property((conversation) => expectPaired(conversation.view()), options);
  });

  test('D8 no cut parts an answer from its results', () => {
    property(({ log }, { plan }) => {
      if (plan.firstKeptSequence === null) return;
      const first = plan.firstKeptSequence;
      for (const result of log.entries.filter((entry) => entry.kind === 'tool_result' && entry.sequence >= first)) {
        const answer = log.entries.find(
          (entry) =>
            entry.kind === 'assistant' && entry.turnId === result.turnId && entry.callNumber === result.callNumber,
        );
        expect(answer?.sequence).toBeGreaterThanOrEqual(first);
      }
    }, options);
  });

  test('R12 rules stand verbatim in the system text after each pass', () => {
    property((conversation) => {
      for (const rule of AGENT.rules) expect(conversation.view().system).toContain(rule);
    }, options);
  });

  test('R7 the request fits after a pass, counted from its own text', () => {
    property((conversation, { plan }) => {
      const counted = estimateTokens(measuredFromText(conversation.view()), NO_CALIBRATION);
      expect(counted).toBeLessThanOrEqual(conversation.budget.inputBudget);
      expect(tokensOf(conversation)).toBeLessThanOrEqual(Math.max(plan.acceptedTokens, plan.tokensAfter) + 50);
    }, options);
  });

  test('R5 every pass wins its minimum, a tenth of the window unless the preset has one of its own', () => {
    property((conversation, { plan }) => {
      expect(plan.tokensBefore - plan.tokensAfter).toBeGreaterThanOrEqual(plan.requiredGain);
      const base = Math.min(conversation.budget.window, plan.tokensBefore);
      expect(plan.requiredGain).toBeGreaterThanOrEqual(Math.floor(base * policy.minimumGain));
      expect(policy.minimumGain).toBeGreaterThanOrEqual(0.1);
    }, options);
  });

  test('R17 the newest user message is in the view, its beginning at least', () => {
    property((conversation) => {
      const newest = conversation.log.entries.findLast((entry) => entry.kind === 'user');
      const [part] = newest?.content ?? [];
      if (part?.type !== 'text') throw new Error('every conversation begins with a text');
      expect(viewText(conversation.view())).toContain(JSON.stringify(part.text.slice(0, 12)).slice(1, -1));
    }, options);
  });

  test('R16 the newest plan stands verbatim in the view after each pass, whatever the summary says of it', () => {
    property(
      (conversation) => {
        const plan = conversation.log.entries.findLast((entry) => entry.slot === 'plan');
        const [part] = plan?.content ?? [];
        if (part?.type !== 'text') return;
        expect(viewText(conversation.view())).toContain(JSON.stringify(part.text).slice(1, -1));
      },
      { ...options, arbitrary: withoutOverflows },
    );
  });

  test('R9 D4 everything that leaves the view is read by a part of the summary that covers it', () => {
    property((conversation, { plan, before }) => {
      const { summary } = conversation;
      if (plan.coveredThroughSequence === null || summary === null) return;
      const reading = plan.parts.filter((part) => part.kind !== 'merge');
      const covered = conversation.log.entries.filter(
        ({ sequence, kind }) =>
          sequence > (before?.coveredThroughSequence ?? 0) &&
          sequence < (plan.firstKeptSequence ?? 0) &&
          ['user', 'assistant', 'tool_result'].includes(kind),
      );
      for (const { sequence } of covered) {
        const isRead = reading.some(
          (part) => (part.fromSequence ?? 0) <= sequence && sequence <= (part.toSequence ?? 0),
        );
        expect(isRead).toBe(true);
      }
    }, options);
  });
});
