import { setTimeout as delay } from 'node:timers/promises';

const ATTEMPTS = 600;
const PAUSE_MILLISECONDS = 200;

/** Repeats until it succeeds, through any strike: reads, and what a client sends under an id that it knows, may be repeated. */
export async function persist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MILLISECONDS);
    }
  }
}
