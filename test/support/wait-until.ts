const FIRST_PAUSE_MILLISECONDS = 25;
const LONGEST_PAUSE_MILLISECONDS = 150;
/** Most waits are over by then; the looks of a long one would take the processor from what it waits for. */
const PROMPT_MILLISECONDS = 1000;

function pauseAfter(pause: number, waited: number): number {
  return waited < PROMPT_MILLISECONDS ? FIRST_PAUSE_MILLISECONDS : Math.min(pause * 1.3, LONGEST_PAUSE_MILLISECONDS);
}

/** Waits until the condition holds; fails with what was waited for when it does not in time. Default: 4 minutes. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMilliseconds = 240_000,
): Promise<void> {
  const begun = Date.now();
  let pause = FIRST_PAUSE_MILLISECONDS;
  while (!(await condition())) {
    const waited = Date.now() - begun;
    if (waited > timeoutMilliseconds) throw new Error(`waited ${timeoutMilliseconds} ms in vain until ${what}`);
    pause = pauseAfter(pause, waited);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
