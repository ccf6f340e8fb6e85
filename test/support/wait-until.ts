const POLL_MILLISECONDS = 25;

/** Waits until the condition holds; fails with what was waited for when it does not in time. Default: 90 s. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMilliseconds = 90_000,
): Promise<void> {
  const end = Date.now() + timeoutMilliseconds;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited ${timeoutMilliseconds} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
}
