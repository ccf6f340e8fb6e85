import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { Conversation, prose } from './builders.ts';
import { planOf } from './planning.ts';

/** Small steps that never fill the window, with a message of the user's now and then. */
function chatting(steps: number, maximumMessages: number, policy = DEFAULT_POLICY): Conversation {
  const limits = { window: 200_000, maximumOutput: 8_192, maximumMessages };
  const conversation = new Conversation({ policy, limits });
  for (let step = 0; step < steps; step += 1) {
    if (step % 7 === 0) conversation.log.user(prose(300, step + 1));
    conversation.log.step([prose(900, step + 1)]);
  }
  return conversation;
}

function framesOf(conversation: Conversation): number {
  return conversation.view().messages.reduce((sum, message) => {
    if (message.role === 'tool_results') return sum + message.results.length;
    return sum + 1 + message.content.filter((part) => part.type === 'tool_call').length;
  }, 0);
}

describe('a server that caps messages', () => {
  test('a view within the cap is left alone, one over it is cut to half of it without touching what stays', () => {
    const small = chatting(20, 100);
    expect(() => planOf(small)).toThrow('nothing was planned: fits');
    const large = chatting(40, 100);
    const plan = planOf(large);
    expect(plan).toMatchObject({ form: 'summary', operations: [] });
    large.commit(plan, prose(400));
    expect(framesOf(large)).toBeLessThanOrEqual(60);
    expect(framesOf(large)).toBeGreaterThan(30);
  });

  test('an overflow that the provider reports is answered by count too, not by the tokens that it did not mean', () => {
    const conversation = chatting(40, 100);
    const plan = planOf(conversation, { reason: 'overflow' });
    conversation.commit(plan, prose(400));
    expect(framesOf(conversation)).toBeGreaterThan(30);
    expect(plan.operations).toEqual([]);
  });

  test.each(Object.keys(PRESETS))('%s gets under every cap, whatever form it ends with', (name) => {
    const policy = PRESETS[name];
    if (policy === undefined) throw new Error(name);
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 400 }),
        fc.constantFrom('summary', 'shorter_summary', 'extractive_summary'),
        (cap, form) => {
          const conversation = chatting(cap, cap, policy);
          conversation.commit(planOf(conversation, { reason: 'overflow', form }), prose(400));
          expect(framesOf(conversation)).toBeLessThanOrEqual(cap);
        },
      ),
      { numRuns: 15 },
    );
  });
});
