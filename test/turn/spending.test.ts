import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  COUNTED,
  countedOf,
  describeLimit,
  limitCode,
  nearLimits,
  raisedLimits,
  resumedLimits,
  spentLimit,
} from '../../src/turn/spending.ts';
import type { Counts, SpendingLimits } from '../../src/turn/spending.ts';

const NOTHING: Counts = { steps: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, cost: 0, wallTime: 0 };
const LIMITS: SpendingLimits = { turn: { steps: 10, cost: 2 }, conversation: { cost: 5 }, noteAt: 0.8 };

test('a limit is reached at its number, near from the part that is told, and its code says whose it is', () => {
  const used = { turn: { ...NOTHING, steps: 9, cost: 1.7 }, conversation: { ...NOTHING, idleTime: 0, cost: 5 } };
  expect(nearLimits(LIMITS, used).map(limitCode)).toEqual(['step_limit', 'cost_limit', 'conversation_cost_limit']);
  const spent = spentLimit(LIMITS, used);
  expect(spent).toMatchObject({ scope: 'conversation', counted: 'cost', used: 5, limit: 5 });
  expect(spentLimit(LIMITS, { ...used, conversation: { ...NOTHING, idleTime: 0 } })).toBeNull();
  expect(spent === null ? '' : describeLimit(spent)).toContain('This conversation has used $5.00 of $5.00.');
});

test('every reason names what it counts, and reasons of another kind name nothing', () => {
  for (const counted of COUNTED)
    for (const scope of ['turn', 'conversation'] as const)
      expect(countedOf(limitCode({ scope, counted }))).toBe(counted);
  expect(countedOf('conversation_idle_time_limit')).toBe('idleTime');
  expect(countedOf('idle_time_limit')).toBeNull();
  expect(countedOf('calls_repeated')).toBeNull();
});

test('turns that go on from one another never use more than the first limit and all raises together', () => {
  const amount = fc.integer({ min: 0, max: 50 });
  fc.assert(
    fc.property(fc.array(fc.record({ used: amount, raise: amount }), { maxLength: 10 }), (turns) => {
      let limits: SpendingLimits['turn'] = { cost: 30 };
      let allowed = 30;
      let spent = 0;
      for (const { used, raise } of turns) {
        const cost = Math.min(used, limits.cost ?? 0);
        spent += cost;
        allowed += raise;
        limits = resumedLimits(limits, { ...NOTHING, cost }, { cost: raise, steps: 5 });
        expect(spent + (limits.cost ?? 0)).toBe(allowed);
      }
      expect(limits.steps).toBeUndefined();
    }),
  );
  expect(raisedLimits({ cost: 5 }, { cost: 2, steps: 1 })).toEqual({ cost: 7 });
});
