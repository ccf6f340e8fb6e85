import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  COUNTED,
  countedOf,
  describeLimit,
  isDivisible,
  limitCode,
  missingRaises,
  nearLimits,
  nextTimeLimit,
  raiseOfConversation,
  raisedLimits,
  resumedLimits,
  runnableCalls,
  spentLimit,
} from '../../src/turn/spending.ts';
import type { Counts, EndedSpending, SpendingLimits } from '../../src/turn/spending.ts';

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

test('the limit of time that comes first is told with what is left of it', () => {
  const limits = { turn: { wallTime: 60 }, conversation: { wallTime: 100 }, idleTime: 30, noteAt: 0.8 };
  expect(nextTimeLimit(limits, { turn: 10, conversation: 10, idle: 5 })).toEqual({
    reason: 'idle_time_limit',
    left: 25,
  });
  expect(nextTimeLimit(limits, { turn: 50, conversation: 90, idle: 5 })).toEqual({
    reason: 'wall_time_limit',
    left: 10,
  });
  expect(nextTimeLimit(limits, { turn: 20, conversation: 101, idle: 5 })).toEqual({
    reason: 'conversation_wall_time_limit',
    left: -1,
  });
});

test('of the calls of an answer so many may run as turn and conversation have left', () => {
  const used = (turn: number, conversation: number) => ({
    turn: { ...NOTHING, toolCalls: turn },
    conversation: { ...NOTHING, idleTime: 0, toolCalls: conversation },
  });
  const limits = { turn: { toolCalls: 5 }, conversation: { toolCalls: 20 }, noteAt: 0.8 };
  expect(runnableCalls(limits, used(5, 20), 3)).toEqual({ runnable: 3, limit: null });
  expect(runnableCalls(limits, used(7, 20), 3)).toEqual({ runnable: 1, limit: 'tool_call_limit' });
  expect(runnableCalls(limits, used(7, 25), 3)).toEqual({ runnable: 0, limit: 'conversation_tool_call_limit' });
  expect(runnableCalls({ ...LIMITS, turn: {} }, used(7, 25), 3)).toEqual({ runnable: 3, limit: null });
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
      const configured = { cost: 30 };
      let limits: SpendingLimits['turn'] = configured;
      let allowed = 30;
      let spent = 0;
      for (const { used, raise } of turns) {
        const cost = Math.min(used, limits.cost ?? 0);
        spent += cost;
        allowed += raise;
        limits = resumedLimits(
          configured,
          { configured, limits, used: { ...NOTHING, cost } },
          { cost: raise, steps: 5 },
        );
        expect(spent + (limits.cost ?? 0)).toBe(allowed);
      }
      expect(limits.steps).toBeUndefined();
    }),
  );
  expect(raisedLimits({ cost: 5 }, { cost: 2, steps: 1 })).toEqual({ cost: 7 });
});

test.each([
  ['no limit then, one now', {}, {}, 0, { cost: 5 }, 5],
  ['no limit then, when more was used than the one now', {}, {}, 8, { cost: 5 }, 5],
  ['the same limit', { cost: 10 }, { cost: 10 }, 7, { cost: 10 }, 3],
  ['the same limit, which was raised for the turn', { cost: 10 }, { cost: 30 }, 7, { cost: 10 }, 23],
  ['a lower one now, of which more is left', { cost: 10 }, { cost: 10 }, 1, { cost: 5 }, 5],
  ['a lower one now, of which less is left', { cost: 10 }, { cost: 10 }, 7, { cost: 5 }, 3],
  ['a higher one now', { cost: 10 }, { cost: 10 }, 7, { cost: 20 }, 3],
  ['none now', { cost: 10 }, { cost: 10 }, 7, {}, 3],
] as const)(
  'a turn that goes on is held by what is left and by what was configured since: %s',
  (_, configured, limits, cost, now, left) => {
    const ended = { configured, limits, used: { ...NOTHING, cost } };
    expect(resumedLimits(now, ended, {})).toEqual({ cost: left });
    expect(resumedLimits(now, ended, { cost: 2 })).toEqual({ cost: left + 2 });
  },
);

const ended = (
  reason: string | null,
  limits: Partial<EndedSpending['limits']>,
  used: { readonly turn?: Partial<Counts>; readonly conversation?: Partial<Counts> },
): EndedSpending => ({
  reason,
  limits: { turn: {}, conversation: {}, ...limits },
  used: { turn: { ...NOTHING, ...used.turn }, conversation: { ...NOTHING, ...used.conversation, idleTime: 0 } },
});

test.each<[string, EndedSpending, ReturnType<typeof missingRaises>]>([
  ['no limit is reached', ended(null, LIMITS, { turn: { steps: 9 } }), {}],
  ['of the turn', ended('step_limit', LIMITS, { turn: { steps: 10 } }), { steps: 1 }],
  ['of the turn, which went over', ended('cost_limit', LIMITS, { turn: { cost: 2.7 } }), { cost: 0.01 }],
  ['of the conversation', ended('conversation_cost_limit', LIMITS, { conversation: { cost: 5.123 } }), { cost: 0.13 }],
  ['of both', ended('cost_limit', LIMITS, { turn: { cost: 2 }, conversation: { cost: 6 } }), { cost: 1.01 }],
  [
    'of turn and conversation in different things',
    ended('step_limit', LIMITS, { turn: { steps: 10 }, conversation: { cost: 5 } }),
    { steps: 1, cost: 0.01 },
  ],
  [
    'of the conversation, though a stop ended the turn',
    ended(null, { conversation: { inputTokens: 100 } }, { conversation: { inputTokens: 336 } }),
    { inputTokens: 237 },
  ],
  [
    'by a timer that was ahead of the clock of Postgres',
    ended('conversation_wall_time_limit', { conversation: { wallTime: 60 } }, { conversation: { wallTime: 59.99 } }),
    { wallTime: 1 },
  ],
  ['a rest', ended('conversation_idle_time_limit', { conversation: { idleTime: 60 } }, {}), {}],
])('a limit that is reached, %s, needs its smallest raise; with it the conversation goes on', (_, spent, missing) => {
  expect(missingRaises(spent, {})).toEqual(missing);
  expect(missingRaises(spent, missing)).toEqual({});
  const { limits, used } = spent;
  const next: SpendingLimits = {
    turn: resumedLimits(limits.turn, { limits: limits.turn, used: used.turn, configured: limits.turn }, missing),
    conversation: raisedLimits(limits.conversation, raiseOfConversation(spent, missing)),
    noteAt: 0.8,
  };
  expect(spentLimit(next, { turn: NOTHING, conversation: used.conversation })).toBeNull();
  for (const counted of COUNTED) {
    const by = missing[counted];
    if (by === undefined) continue;
    const less = { ...missing, [counted]: by - (counted === 'cost' ? 0.01 : 1) };
    expect(Object.keys(missingRaises(spent, less))).toEqual([counted]);
  }
});

test('a raise counts for the conversation only where its limit is reached, of a rest always', () => {
  const limits = { turn: { toolCalls: 2 }, conversation: { toolCalls: 4, idleTime: 60 } };
  const near = ended('tool_call_limit', limits, { turn: { toolCalls: 2 }, conversation: { toolCalls: 3 } });
  expect(raiseOfConversation(near, { toolCalls: 2, idleTime: 10, cost: 1 })).toEqual({ idleTime: 10 });
  const both = ended('tool_call_limit', limits, { turn: { toolCalls: 2 }, conversation: { toolCalls: 4 } });
  expect(raiseOfConversation(both, { toolCalls: 2 })).toEqual({ toolCalls: 2 });
});

test('money and time come in parts', () => {
  expect([...COUNTED, 'idleTime' as const].filter(isDivisible)).toEqual(['cost', 'wallTime', 'idleTime']);
});
