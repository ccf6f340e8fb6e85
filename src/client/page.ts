/** Part of a list, in the order of the list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Whether the list goes on beyond it, in the direction in which it was asked for. */
  readonly hasMore: boolean;
}

/**
 * @param read one row more than the page holds, if there are as many
 * @param end which of the rows the page keeps. Default: the first
 */
export function pageOf<Item>(read: readonly Item[], limit: number, end: 'first' | 'last' = 'first'): Page<Item> {
  return { items: end === 'first' ? read.slice(0, limit) : read.slice(-limit), hasMore: read.length > limit };
}
