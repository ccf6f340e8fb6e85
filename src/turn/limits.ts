/** Forced compactions after a reported overflow, per turn and model, unless the policy says otherwise (seeds/pi.md: a second overflow ends the turn). */
export const OVERFLOW_RECOVERIES_PER_TURN = 1;

/** Tool calls of one answer that run at once. */
export const CONCURRENT_TOOL_CALLS = 8;

/** What Temporal gives a tool call beyond the tool's own time limit: that ends the call, and a dead worker is found by its heartbeats. */
export const TOOL_TIMEOUT_MARGIN_MILLISECONDS = 60 * 60 * 1_000;

/** Summaries of one wave that are written at once: each holds a place of the worker and a connection to the provider. */
export const CONCURRENT_SUMMARIES = 8;

/** A pause may be ended before its time, and nothing wakes a call that waits for it: it looks again so often. */
export const LONGEST_PAUSED_RETRY_MILLISECONDS = 60_000;

/** A server that is out may be back before the time that it named: it is asked again so often. */
export const LONGEST_OUTAGE_RETRY_MILLISECONDS = 300_000;

/**
 * Failures of one activity, with errors that neither pass by themselves nor are final, after which it is not tried again: a
 * minute and a half with the delays between them. Waits, outages, hand-overs and deaths of workers are none.
 */
export const MOST_FAILURES = 10;

/** Code of the failure that ends the turn then. */
export const REPEATED_FAILURE = 'repeated_failure';

/** Failures of the model that one summary part retries: waits of 1, 2, 4, 8 and 16 s (seeds/wolffish.md). */
export const SUMMARY_RETRIES = 5;

/** Failures of the model that one call of the agent retries before the turn ends as `model_failed`. */
export const MODEL_CALL_RETRIES = 7;

/**
 * Tries of one call that may end without a word of what came of them. Deaths of workers are such, a deploy is none; each may
 * have been paid, and a call that kills its worker must not buy for ever.
 */
export const MOST_UNREPORTED_TRIES = 5;

/** The wait before try `failures + 1`: 1, 2, 4, 8, 16, 16 … seconds. */
export function retryDelayMilliseconds(failures: number): number {
  return Math.min(1_000 * 2 ** (failures - 1), 16_000);
}

/**
 * The wait after a rate limit: what the provider asks for, but never shorter than 1, 2, 4, 8, 16, 16 … seconds from the second one
 * of a call on, so that "try again in 6 ms" said again and again becomes a wait that the user sees.
 * @param asked milliseconds; `undefined`: it did not say
 * @param times rate limits of this call so far, from 1
 */
export function rateLimitDelayMilliseconds(asked: number | undefined, times: number): number {
  if (asked === undefined) return retryDelayMilliseconds(times);
  return times < 2 ? asked : Math.max(asked, retryDelayMilliseconds(times - 1));
}

/** Part of a wait that several calls were told, and its most, by which they are spread when it ends. */
const SPREAD_SHARE = 0.1;
const MOST_SPREAD_MILLISECONDS = 5_000;

/**
 * A wait that other calls were told too: they must not all end it at once. Never shorter than it was.
 * @param random from 0 to 1
 */
export function spreadDelay(milliseconds: number, random: number): number {
  return milliseconds + Math.round(random * Math.min(MOST_SPREAD_MILLISECONDS, milliseconds * SPREAD_SHARE));
}

/** The wait before a refused call is made again: what the provider asks for, else by the number of such refusals of the call. */
export function delayAfterRefusal(
  refusal: { readonly cause: string; readonly delayMilliseconds?: number | undefined },
  times: number,
): number {
  const { cause, delayMilliseconds: asked } = refusal;
  return cause === 'rate_limit' ? rateLimitDelayMilliseconds(asked, times) : (asked ?? retryDelayMilliseconds(times));
}

/**
 * What a turn waits for that waits for a provider: it refused calls for their rate, or was not there and named a time; or as many
 * calls or tokens are under way as the configuration allows.
 */
export type ProviderWaitReason = 'rate_limit' | 'outage' | 'call_limit' | 'token_limit' | 'call_or_token_limit';

export type WaitReason = ProviderWaitReason | 'no_worker';

/** A wait for a provider. */
export interface ProviderWait {
  readonly reason: ProviderWaitReason;
  /** How long it lasts, as the timeline tells it. */
  readonly delayMilliseconds: number;
  /** When Temporal calls the activity again: no later than the end of the wait, and sooner where that may come early. */
  readonly retryMilliseconds: number;
}

/** What a turn waits for that no worker of its queue has so far. */
export interface WorkerNeed {
  readonly needs: 'agent' | 'preset' | 'provider' | 'tool';
  readonly name: string;
}

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
