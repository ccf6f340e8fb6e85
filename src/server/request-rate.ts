/** Counts requests by key, in this process. */
export interface RequestRate {
  /** @returns seconds to wait; 0: the request was counted */
  take(keyId: string, perMinute: number): number;
}

const MINUTE_MILLISECONDS = 60_000;

/** A bucket for each key holds a minute's requests and fills evenly. */
export function createRequestRate(now: () => number = () => performance.now()): RequestRate {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(keyId, perMinute) {
      const at = now();
      const bucket = buckets.get(keyId) ?? { left: perMinute, at };
      const filled = bucket.left + ((at - bucket.at) * perMinute) / MINUTE_MILLISECONDS;
      const left = Math.min(perMinute, filled);
      buckets.set(keyId, { left: left < 1 ? left : left - 1, at });
      return left >= 1 ? 0 : Math.ceil(((1 - left) * 60) / perMinute);
    },
  };
}
