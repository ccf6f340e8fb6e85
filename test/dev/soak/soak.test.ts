import { describe, expect, test } from 'vitest';
import { exposureOf, strikesOn, strikesOnClaim } from '../../../dev/soak/exposure.ts';
import type { Exposure } from '../../../dev/soak/exposure.ts';
import { overflowFault } from '../../../dev/soak/faults.ts';
import type { OpenActivity } from '../../../dev/soak/open-work.ts';
import { parseOptions } from '../../../dev/soak/options.ts';
import { SeededRandom, seedFor } from '../../../dev/random.ts';
import { judgeRepeated, paidTooOften } from '../../../dev/soak/repeated-calls.ts';

test('a seed always chooses the same', () => {
  const draw = (seed: number): number[] => {
    const random = new SeededRandom(seed);
    return Array.from({ length: 5 }, () => random.between(1, 1_000));
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('each purpose and each strike has a seed of its own', () => {
  const seeds = [seedFor(7, 'users'), seedFor(7, 'strike', 1, 0), seedFor(7, 'strike', 10, 0), seedFor(8, 'users')];
  expect(new Set(seeds).size).toBe(4);
  expect(seedFor(7, 'strike', 1, 0)).toBe(seeds[1]);
});

test('a crash point that does not exist is refused, with those that do', () => {
  expect(parseOptions(['--at', 'commitCompaction:after-write'])).toMatchObject({ at: 'commitCompaction:after-write' });
  expect(() => parseOptions(['--at', 'commitCompaction:before-write'])).toThrow(/no such point.*runTool:claimed/u);
  expect(() => parseOptions(['--kills', '0'])).toThrow(/whole number from 1/u);
});

test('an overflow meets requests of any window', () => {
  const [small, large] = [overflowFault(8), overflowFault(16)];
  expect(large.match.minimumCharacters).toBe(2 * small.match.minimumCharacters);
  // Four characters a token: more than half of the window, less than what triggers a compaction.
  expect(large.match.minimumCharacters / 4 / 16_384).toBeCloseTo(0.55, 2);
});

function activity(overrides: Partial<OpenActivity> = {}): OpenActivity {
  return {
    workflowId: 'agent-turn:c',
    runId: 'run',
    activityId: '3',
    type: 'callModel',
    attempt: 1,
    workerIdentity: 'worker-1',
    ...overrides,
  };
}

const AT = 1_000_000;

function strike(...activities: OpenActivity[]): Exposure {
  return exposureOf(AT, [{ activities, summaries: [] }], AT + 500);
}

describe('what a strike explains', () => {
  const tried = { runId: 'run', activityId: '3', attempt: 1, startedAt: AT - 3_000 };

  test('the attempt that it took from its worker, and no other work', () => {
    expect(strikesOn([strike(activity())], tried)).toHaveLength(1);
    expect(strikesOn([strike(activity({ activityId: '4' })), strike(activity({ runId: 'other' }))], tried)).toEqual([]);
    expect(strikesOn([strike(activity({ attempt: 2 }))], tried)).toEqual([]);
  });

  test('an attempt that began during it, when a newer one is seen', () => {
    const after = strike(activity({ attempt: 2 }));
    expect(strikesOn([after], { ...tried, startedAt: AT + 500 })).toHaveLength(1);
    expect(strikesOn([after], { ...tried, startedAt: AT - 1 })).toEqual([]);
    expect(strikesOn([after], { ...tried, startedAt: AT + 501 })).toEqual([]);
  });

  test('a claim on its worker that was open then', () => {
    const struck = [strike(activity({ type: 'runTool' }))];
    const claim = { workerIdentity: 'worker-1', runId: 'run', attempt: 1, claimedAt: AT - 100, finishedAt: AT + 9_000 };
    expect(strikesOnClaim(struck, claim)).toHaveLength(1);
    expect(strikesOnClaim(struck, { ...claim, workerIdentity: 'worker-2' })).toEqual([]);
    expect(strikesOnClaim(struck, { ...claim, finishedAt: AT - 50 })).toEqual([]);
    expect(strikesOnClaim(struck, { ...claim, claimedAt: AT + 5_000 })).toEqual([]);
    expect(strikesOnClaim([strike(activity())], claim)).toEqual([]);
  });

  test('a claim during it, when the next attempt is seen, with whomever', () => {
    const after = [strike(activity({ type: 'runTool', attempt: 2, workerIdentity: 'worker-2' }))];
    const claim = { workerIdentity: 'worker-1', runId: 'run', attempt: 1, claimedAt: AT + 10, finishedAt: AT + 3_000 };
    expect(strikesOnClaim(after, claim)).toHaveLength(1);
    expect(strikesOnClaim(after, { ...claim, runId: 'other' })).toEqual([]);
    // It was open before, and not met: the newer attempt has another reason.
    expect(strikesOnClaim(after, { ...claim, claimedAt: AT - 1 })).toEqual([]);
  });
});

describe('model calls that were paid again', () => {
  const tries = [1, 2, 3].map((attempt) => ({ key: 't:3', runId: 'run', activityId: '3', attempt, startedAt: AT }));

  test('are judged one by one: strikes at other calls explain nothing', () => {
    const elsewhere = Array.from({ length: 9 }, () => strike(activity({ activityId: '8' })));
    const judged = judgeRepeated([{ key: 't:3', tries: 3 }], { calls: tries, summaries: [] }, [
      strike(activity({ attempt: 2 })),
      ...elsewhere,
    ]);
    expect(judged).toMatchObject({ calls: 1, extraTries: 2, exposed: 10 });
    expect(judged.list).toEqual([{ key: 't:3', tries: 3, met: 2 }]);
    const unmet = judgeRepeated([{ key: 't:3', tries: 3 }], { calls: tries, summaries: [] }, elsewhere);
    expect(paidTooOften(unmet)).toEqual([
      { name: 'model_call_paid_again', found: 't:3: 3 tries, 0 of them lost to a strike' },
    ]);
  });

  test('are explained attempt by attempt', () => {
    const once = [strike(activity({ attempt: 1 }))];
    const judged = judgeRepeated([{ key: 't:3', tries: 3 }], { calls: tries, summaries: [] }, once);
    expect(judged.list).toEqual([{ key: 't:3', tries: 3, met: 1 }]);
    expect(paidTooOften(judged)).toHaveLength(1);
  });

  test('of a summary are explained by the strikes that met one of its activities', () => {
    const first = { key: 'compaction:1', runId: 'run', activityId: '5', attempt: 1 };
    const summarizing = (attempt: number): OpenActivity => activity({ activityId: '5', type: 'summarize', attempt });
    const seen = exposureOf(AT, [{ activities: [summarizing(1)], summaries: [first] }], AT);
    const later = exposureOf(AT + 20_000, [{ activities: [summarizing(2)], summaries: [] }], AT + 20_000);
    const repeated = [{ key: 'compaction:1', tries: 3 }];
    const none = { calls: [], summaries: [] };
    expect(paidTooOften(judgeRepeated(repeated, none, [seen, later]))).toEqual([]);
    expect(paidTooOften(judgeRepeated(repeated, none, [seen]))).toHaveLength(1);
    expect(paidTooOften(judgeRepeated(repeated, none, [later]))).toHaveLength(1);
  });
});
