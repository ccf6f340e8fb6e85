import type { Measurements } from './measurements.ts';
import type { Calibration } from './plan.ts';

/**
 * Tokens per unit of each measurement. Those of text were fitted by least squares (equal weight per
 * kind) to the o200k tokenizer over 211 READMEs, 252 manifests, 110 source files, 208 long texts of
 * recorded agent sessions, 30 e-mails, and samples of eleven languages, base64 and hex: 98 % of
 * the files come out within 20 %. `test/context/estimate.test.ts` holds them to that.
 */
const TOKENS_PER_UNIT: Readonly<Record<keyof Measurements, number>> = {
  letters: 0.216,
  symbols: 0.614,
  // A space merges with its word; the share stands for words that split into several tokens.
  spaces: 0.187,
  whitespaceRuns: 0.128,
  ideographs: 0.628,
  dense: 0.66,
  bytes: 0,
  images: 8,
  // Vendors charge by area; a patch of 28 × 28 pixels is one token (Claude) or 0.92 (GPT-5.5 and later).
  imagePatches: 1,
  // Text and picture of a PDF page; Anthropic documents 1,500 to 3,000 tokens of text per page.
  documentPages: 2_500,
  // Role and separators of a message, name and id of a tool call.
  frames: 5,
};

/** Nothing learned yet: estimates are taken as they are. */
export const NO_CALIBRATION: Calibration = { factor: 1, samples: 0 };

/** No vendor's tokenizer is known to be further from o200k on real content. */
const FACTOR_MINIMUM = 0.5;
const FACTOR_MAXIMUM = 3;
/** After this many samples a single report moves the factor by a fifth of the difference, and by 25 % at most. */
const SETTLED_SAMPLES = 4;
const SETTLED_SHARE = 0.2;
const SETTLED_STEP = 1.25;
/** Below this the frames that vendors add without telling outweigh the content. Tokens. */
const SMALLEST_SAMPLE = 200;

/** Unrounded and uncalibrated; for sums over many entries. */
export function rawTokens(measurements: Measurements): number {
  return (
    measurements.letters * TOKENS_PER_UNIT.letters +
    measurements.symbols * TOKENS_PER_UNIT.symbols +
    measurements.spaces * TOKENS_PER_UNIT.spaces +
    measurements.whitespaceRuns * TOKENS_PER_UNIT.whitespaceRuns +
    measurements.ideographs * TOKENS_PER_UNIT.ideographs +
    measurements.dense * TOKENS_PER_UNIT.dense +
    measurements.images * TOKENS_PER_UNIT.images +
    measurements.imagePatches * TOKENS_PER_UNIT.imagePatches +
    measurements.documentPages * TOKENS_PER_UNIT.documentPages +
    measurements.frames * TOKENS_PER_UNIT.frames
  );
}

/**
 * Tokens that a content takes in a request, rounded up. Linear in the measurements: the estimate of
 * a sum is the sum of the estimates, up to rounding.
 */
export function estimateTokens(measurements: Measurements, calibration: Calibration): number {
  return Math.ceil(rawTokens(measurements) * calibration.factor);
}

/**
 * Learns from one answered request. The first reports are averaged; after them the factor follows
 * slowly, so that one odd report (a vendor's cached prefix left out, a proxy's own count) cannot
 * throw it. Reports that cannot be right leave it as it was.
 *
 * @param observed.estimated what `estimateTokens` gave for the request **with `calibration`**, tokens
 * @param observed.reported all input tokens that the provider reported for it, cached ones included
 */
export function calibrate(
  calibration: Calibration,
  observed: { readonly estimated: number; readonly reported: number },
): Calibration {
  const { estimated, reported } = observed;
  if (!(estimated >= SMALLEST_SAMPLE) || !(reported >= SMALLEST_SAMPLE) || !Number.isFinite(reported / estimated)) {
    return calibration;
  }
  const seen = clamp((calibration.factor * reported) / estimated, FACTOR_MINIMUM, FACTOR_MAXIMUM);
  const share = Math.max(1 / (calibration.samples + 1), SETTLED_SHARE);
  const moved = calibration.factor + (seen - calibration.factor) * share;
  const factor =
    calibration.samples < SETTLED_SAMPLES
      ? moved
      : clamp(moved, calibration.factor / SETTLED_STEP, calibration.factor * SETTLED_STEP);
  return { factor, samples: calibration.samples + 1 };
}

function clamp(value: number, minimum: number, maximum: number): number {
  return Math.min(maximum, Math.max(minimum, value));
}
