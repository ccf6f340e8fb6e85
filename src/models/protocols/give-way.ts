import { setImmediate } from 'node:timers/promises';

/**
 * Milliseconds of work at a stretch. A worker serves hundreds of turns with one thread: what holds it longer delays their
 * heartbeats and stops. Short enough that two stretches and a collection of garbage stay below 50 ms.
 */
const LONGEST_STRETCH_MILLISECONDS = 10;

/** Lets everything that waits in the event loop go first. */
export async function giveWay(): Promise<void> {
  await setImmediate();
}

/**
 * For work in many small pieces.
 * @returns to be awaited after each piece: gives way whenever work has gone on for 10 ms since it last did.
 */
export function givingWay(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LONGEST_STRETCH_MILLISECONDS) return;
    await setImmediate();
    since = performance.now();
  };
}
