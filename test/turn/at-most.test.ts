import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atMost } from '../../src/turn/limits.ts';

test('every item is worked on once, in order, never more at once than the limit, and the first ones begin at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 10 }), fc.array(fc.nat(3), { maxLength: 30 }), async (limit, pauses) => {
      const begun: number[] = [];
      let running = 0;
      let most = 0;
      const all = atMost(limit, [...pauses.keys()], async (item) => {
        begun.push(item);
        running += 1;
        most = Math.max(most, running);
        for (let pause = 0; pause < (pauses[item] ?? 0); pause += 1) await Promise.resolve();
        running -= 1;
      });
      expect(begun).toHaveLength(Math.min(limit, pauses.length));
      await all;
      expect(begun).toEqual([...pauses.keys()]);
      expect(most).toBeLessThanOrEqual(limit);
    }),
  );
});

test('after a failure, and when it is enough, nothing new begins', async () => {
  const begun: number[] = [];
  const items = [1, 2, 3, 4, 5, 6];
  await expect(
    atMost(2, items, async (item) => {
      begun.push(item);
      await Promise.resolve();
      if (item === 2) throw new RangeError('two');
    }),
  ).rejects.toThrow('two');
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3]);
  begun.length = 0;
  await atMost(
    2,
    items,
    (item) => Promise.resolve(void begun.push(item)),
    () => begun.length >= 2,
  );
  expect(begun).toEqual([1, 2]);
});
