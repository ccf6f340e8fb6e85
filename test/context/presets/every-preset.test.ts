import { describe, expect, test } from 'vitest';
import { textOf } from '../../../src/context/log/content.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { BUILT_IN_PRESETS } from '../../../src/context/policy/presets/index.ts';
import { AGENT, viewText } from '../builders.ts';
import { testEachPass, tokensOf } from '../chained.ts';
import { expectAnswersKept, expectPaired, measuredFromText } from '../view-checks.ts';

/** Random conversations per preset. */
const RUNS = 6;

/** Characters of a message that every preset keeps whole in the smallest of the windows. */
const LONG = 1_500;

describe.each(BUILT_IN_PRESETS.map((policy) => [policy.name, policy] as const))('%s', (_name, policy) => {
  const playAll = testEachPass(
    {
      'R10 every call keeps its result, in call order, over chained passes': (conversation) =>
        expectPaired(conversation.view()),

      'answers stand in the order of their calls': (conversation) => {
        const calls = conversation
          .view()
          .messages.flatMap((message) => (message.role === 'assistant' ? [message.callNumber] : []));
        expect(calls).toEqual(calls.toSorted((left, right) => left - right));
      },

      'D6 exactly one summary stands in the view once there is one': (conversation) => {
        const { messages } = conversation.view();
        const summaries = messages.filter((message) => message.role === 'user' && message.origin === 'summary');
        expect(summaries).toHaveLength(conversation.summary === null ? 0 : 1);
      },

      'D8 no cut parts an answer from its results': ({ log }, { plan }) => {
        if (plan.firstKeptSequence === null) return;
        const first = plan.firstKeptSequence;
        for (const result of log.entries.filter((entry) => entry.kind === 'tool_result' && entry.sequence >= first)) {
          const answer = log.entries.find(
            (entry) =>
              entry.kind === 'assistant' && entry.turnId === result.turnId && entry.callNumber === result.callNumber,
          );
          expect(answer?.sequence).toBeGreaterThanOrEqual(first);
        }
      },

      'R12 rules stand verbatim in the system text after each pass': (conversation) => {
        for (const rule of AGENT.rules) expect(conversation.view().system).toContain(rule);
      },

      'R7 the request fits after a pass, counted from its own text': (conversation, { plan }) => {
        const counted = estimateTokens(measuredFromText(conversation.view()), NO_CALIBRATION);
        // What is clipped is planned by its share of the whole: within a hundredth of its own text.
        expect(counted).toBeLessThanOrEqual(conversation.budget.inputBudget * 1.01);
        expect(tokensOf(conversation)).toBeLessThanOrEqual(Math.max(plan.acceptedTokens, plan.tokensAfter) + 50);
        if (policy.name === 'default') expect(counted).toBeLessThanOrEqual(plan.tokensAfter * 1.1 + 50);
      },

      'R5 every pass wins its minimum, a tenth of the window unless the preset has one of its own': (
        conversation,
        { plan },
      ) => {
        expect(plan.tokensBefore - plan.tokensAfter).toBeGreaterThanOrEqual(plan.requiredGain);
        const base = Math.min(conversation.budget.window, plan.tokensBefore);
        expect(plan.requiredGain).toBeGreaterThanOrEqual(Math.floor(base * policy.minimumGain));
        expect(policy.minimumGain).toBeGreaterThanOrEqual(0.1);
      },

      'R17 the newest user message is in the view, its beginning at least': (conversation) => {
        const newest = conversation.log.entries.findLast((entry) => entry.kind === 'user');
        const [part] = newest?.content ?? [];
        if (part?.type !== 'text') throw new Error('every conversation begins with a text');
        expect(viewText(conversation.view())).toContain(JSON.stringify(part.text.slice(0, 12)).slice(1, -1));
      },

      'R11 the newest answer is shown as it was, older ones whole or clipped, and none with half of its reasoning': (
        conversation,
      ) => expectAnswersKept(conversation),

      'R9 D4 everything that leaves the view is read by a part of the summary that covers it': (
        conversation,
        { plan, before },
      ) => {
        const { summary } = conversation;
        if (plan.coveredThroughSequence === null || summary === null) return;
        // Wolffish's document cuts nothing off.
        if (policy.name === 'default') expect(summary.coveredThroughSequence).toBe((plan.firstKeptSequence ?? 0) - 1);
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
      },

      'R17 the newest user message stands word for word and after all others, unless it is long': (
        conversation,
        { isForced },
      ) => {
        if (isForced) return;
        const newest = conversation.log.entries.findLast((entry) => entry.kind === 'user');
        const said = textOf(newest?.content ?? []);
        if (said.length > LONG) return;
        const asked = conversation
          .view()
          .messages.flatMap((message) =>
            message.role === 'user' && message.origin === 'user' ? [textOf(message.content)] : [],
          );
        expect(asked.at(-1)).toBe(said);
      },

      'R16 the newest plan stands verbatim in the view after each pass, whatever the summary says of it': (
        conversation,
        { isForced },
      ) => {
        if (isForced) return;
        const plan = conversation.log.entries.findLast((entry) => entry.slot === 'plan');
        const [part] = plan?.content ?? [];
        if (part?.type !== 'text') return;
        expect(viewText(conversation.view())).toContain(JSON.stringify(part.text).slice(1, -1));
      },
    },
    { policy, runs: RUNS },
  );

  if (policy.name === 'default') {
    test('five compactions are reached often enough to mean something', () => {
      const { passes, exhausted } = playAll();
      expect(passes.filter((count) => count >= 5).length).toBeGreaterThan(1);
      expect(exhausted).toBe(0);
    });
  }
});
