/**
 * Works on all items in order, on so many at once. The first ones begin before anything is awaited, as without a limit: what a
 * workflow schedules stays the same while the items are no more than that. After a failure nothing new begins.
 *
 * @param enough asked before each further item; `true`: the rest is left alone.
 */
export async function atMost<Item>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  enough: () => boolean = () => false,
): Promise<void> {
  const waiting = items.values();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (const item of waiting) {
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
      if (failed || enough()) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
}
