import { CancellationScope } from '@temporalio/workflow';
import { atMost } from '../turn/at-most.ts';

/**
 * Works on all items, on so many at once. When one fails for good, or a stop comes, the others are cancelled, and each gets its
 * time to end: what still finishes is kept.
 * @param enough asked before each further item; `true`: the rest is left alone
 */
export async function sideBySide<Item>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  enough?: () => boolean,
): Promise<void> {
  const running: Promise<void>[] = [];
  const scope = new CancellationScope();
  const begin = (item: Item): Promise<void> => {
    const begun = work(item);
    running.push(begun);
    return begun;
  };
  try {
    await scope.run(() => atMost(limit, items, begin, enough));
  } catch (error) {
    scope.cancel();
    await Promise.allSettled(running);
    throw error;
  }
}
