import { calibratedTokens, estimateTokens, FRAME_TOKENS, rawTokens } from './estimate.ts';
import type { Measurements } from './measurements.ts';
import type { Calibration } from '../plan/plan.ts';

/** Requests below this are mostly framing; a factor made from them says nothing of text. Tokens. */
const SMALLEST_REQUEST = 500;
/** A report that differs more than this from every known tokenizer is not believed. */
const SMALLEST_FACTOR = 0.4;
const LARGEST_FACTOR = 3;

/** What the provider counted of a conversation's newest call, and what came after its answer. */
export interface NewestReport {
  readonly usage: { readonly input: number; readonly output: number };
  readonly since: Measurements;
}

/**
 * The calibration that makes the estimate of this very request equal to what is known of it: the
 * provider's count of the newest call and its answer, plus an estimate of what came after. A factor
 * learned over many calls errs by a fifth on one kind of text; the count does not.
 */
export function anchoredCalibration(
  calibration: Calibration,
  request: Measurements,
  report: NewestReport | null,
): Calibration {
  if (report === null || rawTokens(request) < SMALLEST_REQUEST) return calibration;
  const known = report.usage.input + report.usage.output + estimateTokens(report.since, calibration);
  // Text and frames by the same share: which of them the difference comes from, one count does not tell.
  const share = known / calibratedTokens(request, calibration);
  const factor = Math.min(LARGEST_FACTOR, Math.max(SMALLEST_FACTOR, calibration.factor * share));
  const frameTokens = (calibration.frameTokens ?? FRAME_TOKENS * calibration.factor) * (factor / calibration.factor);
  return { ...calibration, factor, frameTokens };
}
