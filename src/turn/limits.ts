/** Forced compactions after a reported overflow, per turn and model, unless the policy says otherwise (seeds/pi.md: a second overflow ends the turn). */
export const OVERFLOW_RECOVERIES_PER_TURN = 1;

/** Tool calls of one answer that run at once. */
export const CONCURRENT_TOOL_CALLS = 8;

/** Margin of Temporal's timeout above the tool's own limit. The tool's limit ends a call, and heartbeats find a dead worker. */
export const TOOL_TIMEOUT_MARGIN_MILLISECONDS = 60 * 60 * 1_000;

/** Each summary holds a slot of the worker and a connection to the provider. */
export const CONCURRENT_SUMMARIES = 8;

/** A pause may end early, and nothing wakes a waiting call, so it looks again at least this often. */
export const LONGEST_PAUSED_RETRY_MILLISECONDS = 60_000;

/** A server may be back before the time that it named, so it is asked again at least this often. */
export const LONGEST_OUTAGE_RETRY_MILLISECONDS = 300_000;

/**
 * Failures of one activity before it is given up: a minute and a half with the delays. Only errors that are neither transient nor final
 * count, so waits, outages, hand-overs and deaths of workers do not.
 */
export const MOST_FAILURES = 10;

/** Code of the failure that then ends the turn. */
export const REPEATED_FAILURE = 'repeated_failure';

/** Retries of a summary part after failures of the model, with waits of 1, 2, 4, 8 and 16 s (seeds/wolffish.md). */
export const SUMMARY_RETRIES = 5;

/** Retries of a model call before the turn ends as `model_failed`. */
export const MODEL_CALL_RETRIES = 7;

/**
 * Tries of a call that may end without a report, such as by a worker's death. A deploy does not count. Each try may have been billed, and
 * a call that kills its worker must not be bought for ever.
 */
export const MOST_UNREPORTED_TRIES = 5;

/** Delay before try `failures + 1`: 1, 2, 4, 8, 16, 16 … seconds. */
export function retryDelayMilliseconds(failures: number): number {
  return Math.min(1_000 * 2 ** (failures - 1), 16_000);
}

/**
 * Delay of a refused call: what the provider asks for. From the second refusal of a call on it is at least 1, 2, 4, 8, 16, 16 … seconds,
 * so that a repeated "try again in 6 ms" becomes a wait that the user sees.
 * @param asked milliseconds; `undefined` if the provider did not say
 * @param times refusals of this call so far, from 1
 */
export function delayAfterRefusal(asked: number | undefined, times: number): number {
  if (asked === undefined) return retryDelayMilliseconds(times);
  return times < 2 ? asked : Math.max(asked, retryDelayMilliseconds(times - 1));
}

/** Calls with the same wait are spread over this share of it, at most `MOST_SPREAD_MILLISECONDS`. */
const SPREAD_SHARE = 0.1;
const MOST_SPREAD_MILLISECONDS = 5_000;

/**
 * Lengthens a wait that several calls share, so that they do not end it at once.
 * @param random from 0 to 1
 */
export function spreadDelay(milliseconds: number, random: number): number {
  return milliseconds + Math.round(random * Math.min(MOST_SPREAD_MILLISECONDS, milliseconds * SPREAD_SHARE));
}

/** Why a turn waits for its provider: it limited the rate, was out and named a time, or the configured calls or tokens are in use. */
export type ProviderWaitReason = 'rate_limit' | 'outage' | 'call_limit' | 'token_limit' | 'call_or_token_limit';

export type WaitReason = ProviderWaitReason | 'no_worker';

/** A wait for a provider. */
export interface ProviderWait {
  readonly reason: ProviderWaitReason;
  /** Length of the wait, as in the timeline. */
  readonly delayMilliseconds: number;
  /** When Temporal retries the activity: at the end of the wait, or sooner if the wait may end early. */
  readonly retryMilliseconds: number;
}

/** What a turn needs that no worker of its queue has. */
export interface WorkerNeed {
  readonly needs: 'agent' | 'preset' | 'provider' | 'tool';
  readonly name: string;
}

/**
 * Works on all items in order, a limited number at once. The first items begin before anything is awaited, so a workflow schedules the
 * same as without a limit while there are no more items than that. After a failure no item begins.
 * @param enough asked before each further item; `true` leaves the rest alone
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
