import { calibrate, observationOf } from '../../../src/context/log/calibrate.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import type { Calibration } from '../../../src/context/plan/plan.ts';
import type { RecordedCall } from './recorded-sessions.ts';

/** Calls that a model is calibrated with before its estimates are judged. */
const CALLS_BEFORE = 3;

export interface GrowthErrors {
  /** Per judged call: estimated growth / reported growth. */
  readonly ratios: readonly number[];
  /** Calls whose input did not grow (the agent left something out), or that begin anew. */
  readonly skipped: number;
}

/**
 * How far the estimate of what was added between two calls is from what the provider reported, with the calibration
 * that a worker would have at that moment: learned from the calls before it, model by model.
 */
export function growthErrors(calls: readonly RecordedCall[]): GrowthErrors {
  const calibrations = new Map<string, Calibration>();
  const seen = new Map<string, number>();
  const ratios: number[] = [];
  let skipped = 0;
  for (const [index, call] of calls.entries()) {
    const earlier = calls[index - 1];
    const number = (seen.get(call.model) ?? 0) + 1;
    seen.set(call.model, number);
    if (call.begins || earlier?.model !== call.model) continue;
    const reported = call.input - earlier.input;
    if (reported <= 0) {
      skipped += 1;
      continue;
    }
    const calibration = calibrations.get(call.model) ?? NO_CALIBRATION;
    if (number > CALLS_BEFORE) ratios.push(estimateTokens(call.grown, calibration) / reported);
    const observation = observationOf({
      whole: call.grown,
      reported: call.input,
      earlier: { reported: earlier.input, grown: call.grown },
    });
    calibrations.set(call.model, calibrate(calibration, observation));
  }
  return { ratios, skipped };
}
