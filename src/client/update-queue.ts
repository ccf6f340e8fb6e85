/** Hands items from callbacks to one reader, in order. */
export interface UpdateQueue<Item> extends AsyncIterable<Item> {
  push(item: Item): void;
  /** The reader sees what was pushed before, then the end. */
  end(): void;
  /** The reader sees what was pushed before, then the error. */
  fail(error: unknown): void;
}

export function createUpdateQueue<Item>(): UpdateQueue<Item> {
  const items: Item[] = [];
  let ended = false;
  let failure: { readonly error: unknown } | null = null;
  let wake = (): void => undefined;
  return {
    push(item) {
      items.push(item);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    fail(error) {
      failure = { error };
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (const item of items.splice(0)) yield item;
        if (items.length > 0) continue;
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
