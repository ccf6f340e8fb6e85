import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_LOOP_LIMITS,
  NEW_LOOP_GUARD,
  findLoop,
  noteCompaction,
  noteProgress,
  noteToolResult,
} from '../../src/turn/progress.ts';
import type { LoopGuard } from '../../src/turn/progress.ts';

/** Results that begin with `recall` are those of the recall tools. */
const noted = (guard: LoopGuard, fingerprint: string): LoopGuard =>
  noteToolResult(guard, { fingerprint, recall: fingerprint.startsWith('recall') });
const after = (guard: LoopGuard, results: readonly string[]): LoopGuard =>
  results.reduce((now, result) => noted(now, result), guard);
const loopIn = (guard: LoopGuard) => findLoop(guard, DEFAULT_LOOP_LIMITS);
const times = (count: number, ...results: readonly string[]) => Array.from({ length: count }, () => results).flat();

describe('calls that come back with the same result', () => {
  test('end the turn at the tenth time, alone or in turn with others', () => {
    expect(loopIn(after(NEW_LOOP_GUARD, times(9, 'a')))).toBeNull();
    expect(loopIn(after(NEW_LOOP_GUARD, times(10, 'a')))).toBe('calls_repeated');
    expect(loopIn(after(NEW_LOOP_GUARD, times(9, 'a', 'b', 'c')))).toBeNull();
    expect(loopIn(after(NEW_LOOP_GUARD, times(10, 'a', 'b', 'c')))).toBe('calls_repeated');
  });

  test('begin to count anew with a new result and a message of the user', () => {
    const nine = after(NEW_LOOP_GUARD, times(9, 'a'));
    for (const guard of [noted(nine, 'b'), noted(nine, 'recall b'), noteProgress(nine)]) {
      expect(loopIn(after(guard, times(8, 'a')))).toBeNull();
      expect(loopIn(after(guard, times(9, 'a')))).toBe('calls_repeated');
    }
  });
});

describe('compactions', () => {
  test('R6 without a new result between them end the turn at the second', () => {
    const first = noteCompaction(after(NEW_LOOP_GUARD, ['a', 'b']));
    expect(loopIn(first)).toBeNull();
    const second = noteCompaction(after(first, ['a']));
    expect(loopIn(second)).toBeNull();
    const third = noteCompaction(after(second, ['b', 'a']));
    expect(loopIn(third)).toBe('compactions_without_progress');
    expect(loopIn(noted(third, 'c'))).toBeNull();
  });

  test('between which the agent only looks up what it had already end the turn at the fourth', () => {
    let guard = noteCompaction(after(NEW_LOOP_GUARD, ['a']));
    for (let lookup = 1; lookup <= 3; lookup += 1) {
      guard = noteCompaction(after(guard, ['a', `recall ${lookup}`]));
      expect(loopIn(guard)).toBeNull();
    }
    expect(loopIn(noteCompaction(after(guard, ['recall 4'])))).toBe('compactions_without_progress');
    expect(loopIn(noteCompaction(after(guard, ['recall 4', 'wrote the report'])))).toBeNull();
  });

  test('with something new between them never do, however many there are', () => {
    let guard = NEW_LOOP_GUARD;
    for (let step = 0; step < 500; step += 1) {
      guard = noteCompaction(after(guard, ['list', `file ${step}`]));
      expect(loopIn(guard)).toBeNull();
    }
  });
});

test('a turn that only ever sees new results never loops, and what it carries over fits a payload', () => {
  const steps = fc.array(fc.oneof(fc.constant('compaction'), fc.constant('new'), fc.constant('known')), {
    maxLength: 600,
  });
  fc.assert(
    fc.property(steps, (order) => {
      let guard = NEW_LOOP_GUARD;
      const distinct = order.map((_, index) => index.toString(16).padStart(8, '0'));
      order.forEach((step, index) => {
        if (step === 'compaction') guard = noteCompaction(noted(guard, `c${distinct[index] ?? ''}`));
        else guard = noted(guard, step === 'new' ? (distinct[index] ?? '') : (guard.seen[0] ?? 'first'));
        expect(JSON.stringify(guard).length).toBeLessThan(6_000);
      });
      if (!order.includes('known')) expect(loopIn(guard)).toBeNull();
    }),
  );
});
