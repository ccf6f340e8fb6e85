import type { ErrorVerdict, ReportedUsage, StopReason } from '../model-client.ts';

/** Servers that drop the oldest input without an error report about half of what was sent (ollama/ollama#3839). */
const DROPPED_BELOW = 0.6;
/** While nothing was learned about the model, an estimate may be twice or half the truth, but not four times. */
const DROPPED_BELOW_UNCALIBRATED = 0.25;
/** Estimates of small requests are too rough to accuse a server. Tokens. */
const SMALLEST_JUDGED_INPUT = 2_000;
/** Servers that cut the input to fit report a window that is full to the brim (Xiaomi MiMo). */
const FULL_WINDOW = 0.99;
/** An answer of this share of what was asked for, cut by `length`, had no room (DashScope, MiMo). */
const TINY_OUTPUT = 0.05;

/** An answer beside what was asked, in tokens; without usage only the stop reason can tell. */
export interface AnsweredCall {
  readonly provider: string;
  readonly usage: ReportedUsage | undefined;
  readonly stopReason: StopReason;
  readonly window: number;
  /** By the calibrated estimate; `isCalibrated`: it was checked against this model's own counts. */
  readonly estimatedInput: number;
  readonly isCalibrated: boolean;
  readonly maximumOutput: number;
}

/**
 * An answer that came without an error and was made from an input over the window: cut by the
 * provider, or stopped because nothing was left to write into. A cut at the requested maximum
 * alone is not an overflow (mindcraft#814). `null`: nothing is wrong with it.
 */
export function detectSilentOverflow(answered: AnsweredCall): ErrorVerdict | null {
  const sign = signOf(answered);
  if (sign === null) return null;
  const { provider, window: limit, usage: { input = 0 } = {} } = answered;
  const counted = input > limit ? { actual: input } : {};
  return { kind: 'overflow', cause: 'overflow', repair: 'compact', ...counted, limit, evidence: `${provider} ${sign}` };
}

function signOf({ usage, stopReason, window, estimatedInput, isCalibrated, maximumOutput }: AnsweredCall) {
  if (stopReason === 'window_full') return 'stopped the answer because the window is full';
  if (usage === undefined || usage.input <= 0) return null;
  const { input, output } = usage;
  if (input > window) return `reported ${input} input tokens for a window of ${window}`;
  const isTiny = output <= Math.max(1, maximumOutput * TINY_OUTPUT);
  if (stopReason === 'maximum_output' && isTiny && input >= window * FULL_WINDOW)
    return `stopped for length after ${output} of ${maximumOutput} tokens with ${input} of ${window} input tokens`;
  const least = estimatedInput * (isCalibrated ? DROPPED_BELOW : DROPPED_BELOW_UNCALIBRATED);
  if (estimatedInput < SMALLEST_JUDGED_INPUT || input >= least) return null;
  return `reported ${input} input tokens where about ${estimatedInput} were sent: it dropped a part`;
}
