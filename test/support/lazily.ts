/**
 * What a hook opens before the first test, as a constant of the file: usable as soon as tests run.
 * @param find what is opened, as soon as it is; called at each use
 */
export function lazily<Opened extends object>(find: () => Opened | undefined): Opened {
  const value = (): Opened => {
    const opened = find();
    if (opened === undefined) throw new Error('this is open while tests run');
    return opened;
  };
  const stand: unknown = new Proxy(() => undefined, {
    apply: (_, self, values) => Reflect.apply(value() as unknown as (...all: unknown[]) => unknown, self, values),
    get: (_, key) => Reflect.get(value(), key) as unknown,
    has: (_, key) => Reflect.has(value(), key),
  });
  return stand as Opened;
}
