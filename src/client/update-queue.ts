/** Hands items from callbacks to one reader, in order, and keeps no more of them than a bound when the reader stands still. */
export interface UpdateQueue<Item> extends AsyncIterable<Item> {
  /** Past the bound the oldest item that may be dropped goes; other items are always kept. */
  push(item: Item): void;
  /** Waits until fewer items than the bound are waiting: for who pushes items that are always kept. False: nobody reads any more. */
  room(): Promise<boolean>;
  /** Whether `room` would wait. */
  isFull(): boolean;
  /** The reader sees what was pushed before, then the end. */
  end(): void;
  /** The reader sees what was pushed before, then the error. */
  fail(error: unknown): void;
}

export interface QueueBounds<Item> {
  /** Items that may be dropped of which so many wait at most; also the number of waiting items at which `room` waits. */
  readonly most: number;
  readonly mayBeDropped: (item: Item) => boolean;
}

export function createUpdateQueue<Item>({ most, mayBeDropped }: QueueBounds<Item>): UpdateQueue<Item> {
  const items: Item[] = [];
  let droppable = 0;
  let ended = false;
  let failure: { readonly error: unknown } | null = null;
  let wake = (): void => undefined;
  const waiting = new Set<() => void>();
  const letIn = (): void => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const take = (place: number): Item[] => {
    const taken = items.splice(place, 1);
    droppable -= taken.filter(mayBeDropped).length;
    return taken;
  };
  const over = (): boolean => ended || failure !== null;
  const finish = (): void => {
    wake();
    letIn();
  };
  return {
    push(item) {
      items.push(item);
      if (mayBeDropped(item)) {
        droppable += 1;
        if (droppable > most) take(items.findIndex(mayBeDropped));
      }
      wake();
    },
    isFull: () => items.length >= most,
    async room() {
      while (items.length >= most && !over()) await new Promise<void>((resolve) => waiting.add(resolve));
      return !over();
    },
    end() {
      ended = true;
      finish();
    },
    fail(error) {
      failure = { error };
      finish();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) {
          yield* take(0);
          if (items.length < most) letIn();
        }
        if (failure !== null) throw failure.error;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = () => undefined;
      }
    },
  };
}
