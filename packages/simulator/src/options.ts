/** How the simulator is started. */
export interface SimulatorOptions {
  /** TCP port; 0 chooses a free one. Default: 0. */
  readonly port?: number;
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Milliseconds until the first token of each answer. Default: 0. */
  readonly latency?: number;
  /** Tokens per second of each answer; 0 is as fast as possible. Default: 0. */
  readonly tokensPerSecond?: number;
  /** Decides wording and ids. The n-th answer to the same request is the same for the same seed. Default: 1. */
  readonly seed?: number;
}

export type CompleteOptions = Required<SimulatorOptions>;

/** @throws RangeError that names the option and the value */
export function completeOptions(options: SimulatorOptions): CompleteOptions {
  const complete = { port: 0, host: '127.0.0.1', latency: 0, tokensPerSecond: 0, seed: 1, ...options };
  const { port, latency, tokensPerSecond } = complete;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new RangeError(`port must be a whole number from 0 to 65535, not ${port}`);
  if (!(latency >= 0)) throw new RangeError(`latency must be 0 or more milliseconds, not ${latency}`);
  if (!(tokensPerSecond >= 0)) throw new RangeError(`tokensPerSecond must be 0 or more, not ${tokensPerSecond}`);
  return complete;
}
