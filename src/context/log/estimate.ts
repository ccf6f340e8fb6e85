import type { MeasuredColumns, Measurements } from './measurements.ts';
import { MEASUREMENT_NAMES } from './measurements.ts';
import type { Calibration } from '../plan/plan.ts';

/**
 * Tokens per unit of each measurement. Those of text were fitted to the o200k tokenizer over READMEs, manifests, packed
 * JSON, source files, e-mails, long texts of recorded agent sessions, and samples of eleven languages, base64 and hex: 97 % of
 * the files come out within 20 %. `test/context/estimate.test.ts` holds them to that with invented texts. Known to be
 * too low: files of nothing but base64-like letters, as source maps are (0.5).
 */
const TOKENS_PER_UNIT: Readonly<Record<keyof Measurements, number>> = {
  letters: 0.216,
  symbols: 0.66,
  // A space merges with its word; the share stands for words that split into several tokens.
  spaces: 0.187,
  whitespaceRuns: 0.128,
  ideographs: 0.66,
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

/** Tokens of one frame before anything is learned. */
export const FRAME_TOKENS = TOKENS_PER_UNIT.frames;

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

/** Unrounded, by what was learned of a model: text and media times the factor, and the frames. */
export function calibratedTokens(measurements: Measurements, { factor, frameTokens }: Calibration): number {
  const raw = rawTokens(measurements);
  if (frameTokens === undefined) return raw * factor;
  return (raw - measurements.frames * FRAME_TOKENS) * factor + measurements.frames * frameTokens;
}

export function calibratedColumn(columns: MeasuredColumns, { factor, frameTokens }: Calibration): Float64Array {
  const tokens = new Float64Array(columns.frames.length);
  for (const name of MEASUREMENT_NAMES) {
    const perUnit = TOKENS_PER_UNIT[name];
    if (perUnit !== 0) addWeighted(tokens, columns[name], perUnit);
  }
  const { frames } = columns;
  for (let place = 0; place < tokens.length; place += 1) {
    const raw = tokens[place] ?? 0;
    const ofFrames = frames[place] ?? 0;
    tokens[place] =
      frameTokens === undefined ? raw * factor : (raw - ofFrames * FRAME_TOKENS) * factor + ofFrames * frameTokens;
  }
  return tokens;
}

function addWeighted(sums: Float64Array, numbers: Float64Array, weight: number): void {
  for (let place = 0; place < sums.length; place += 1) {
    sums[place] = (sums[place] ?? 0) + (numbers[place] ?? 0) * weight;
  }
}

/**
 * Tokens that a content takes in a request, rounded up. Linear in the measurements: the estimate of
 * a sum is the sum of the estimates, up to rounding.
 */
export function estimateTokens(measurements: Measurements, calibration: Calibration): number {
  return Math.ceil(calibratedTokens(measurements, calibration));
}
