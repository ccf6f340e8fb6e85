/**
 * `waiting`, or the signal's reason, for what does not end by itself when it is aborted: a body that came whole is left for ever
 * without an end when that happens between two reads (undici 6.24, as Node 20 has it), and a hook may not look at its signal.
 */
export async function untilAborted<Result>(waiting: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
