import type { Calibration, Lessons } from '../plan/plan.ts';
import { addMeasurements, measurementsAt } from './measurements.ts';
import type { MeasuredColumns, Measurements } from './measurements.ts';

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

export function calibratedColumn(columns: MeasuredColumns, calibration: Calibration): Float64Array {
  const tokens = new Float64Array(columns.frames.length);
  for (let position = 0; position < tokens.length; position += 1) {
    tokens[position] = calibratedTokens(measurementsAt(columns, position), calibration);
  }
  return tokens;
}

/**
 * Tokens that a content takes in a request, rounded up. Linear in the measurements: the estimate of
 * a sum is the sum of the estimates, up to rounding.
 */
export function estimateTokens(measurements: Measurements, calibration: Calibration): number {
  return Math.ceil(calibratedTokens(measurements, calibration));
}

/** No vendor's tokenizer is known to be further from o200k on real content. */
const FACTOR_MINIMUM = 0.5;
const FACTOR_MAXIMUM = 3;
/** Claude takes 15 to 55 tokens for the frame of a call or a result, by what recorded sessions report. */
const FRAME_TOKENS_MAXIMUM = 100;
/** Below this a report says nothing. Tokens. */
const SMALLEST_SAMPLE = 20;
/** Errors are weighed as shares of the sample; smaller samples than this weigh less. Tokens. */
const FULL_SAMPLE = 100;
/** What is left of a lesson after the next one: about the last twenty count. */
const KEPT_SHARE = 0.95;
/** A report further off than this share weighs less, the more so the further: a proxy's own count, hidden reminders. */
const BELIEVED_ERROR = 0.3;
/** From so many reports on, one that the estimate already met within this share teaches nothing that is worth a write. */
const SETTLED_SAMPLES = 20;
const SETTLED_ERROR = 0.03;
/**
 * What is assumed before the first report, as shares of one: text as o200k counts it, frames as in
 * a step of about 150 tokens with three of them.
 */
const ASSUMED_TEXT = 0.03;
const ASSUMED_FRAMES = ASSUMED_TEXT * (3 / 150) ** 2;

const NO_LESSONS: Lessons = { textText: 0, textFrames: 0, framesFrames: 0, textReported: 0, framesReported: 0 };

interface Observation {
  /** What the request held; or what it held beyond an earlier one. */
  readonly measurements: Measurements;
  /** All input tokens that the provider reported for it, cached ones included; or how many more than for the earlier one. */
  readonly reported: number;
}

/**
 * What a new request teaches: how much its count grew since the newest call before it, because the
 * growth is all content that we measured, while a whole request may hold what a provider adds unseen.
 * Without an earlier count (the first call, the first after a compaction) the whole request.
 */
export function observationOf(
  request: {
    readonly view: Measurements;
    readonly fixed: Measurements;
    /** The newest count before it, with its answer. */
    readonly reported: (NewestReport & { readonly answer: Measurements }) | null;
  },
  input: number,
): Observation {
  const { view, fixed, reported } = request;
  if (reported === null) return { measurements: addMeasurements(view, fixed), reported: input };
  return { measurements: addMeasurements(reported.answer, reported.since), reported: input - reported.usage.input };
}

/**
 * Learns from one answered request what a model takes for text and for frames: the least squares of
 * relative errors, newer reports before older ones, odd ones with less weight. Reports that cannot
 * be right leave it as it was, and so do those that a settled calibration has foretold.
 */
export function calibrate(calibration: Calibration, { measurements, reported }: Observation): Calibration {
  const frames = measurements.frames;
  const text = rawTokens(measurements) - frames * FRAME_TOKENS;
  if (!(text >= SMALLEST_SAMPLE) || !(reported >= SMALLEST_SAMPLE) || !Number.isFinite(reported / text)) {
    return calibration;
  }
  const expected = calibratedTokens(measurements, calibration);
  const size = Math.max(expected, reported, FULL_SAMPLE);
  const error = Math.abs(reported - expected) / size;
  if (calibration.samples >= SETTLED_SAMPLES && error < SETTLED_ERROR) return calibration;
  const weight = Math.min(1, BELIEVED_ERROR / error) / size ** 2;
  const before = calibration.lessons ?? NO_LESSONS;
  const lessons: Lessons = {
    textText: before.textText * KEPT_SHARE + weight * text * text,
    textFrames: before.textFrames * KEPT_SHARE + weight * text * frames,
    framesFrames: before.framesFrames * KEPT_SHARE + weight * frames * frames,
    textReported: before.textReported * KEPT_SHARE + weight * text * reported,
    framesReported: before.framesReported * KEPT_SHARE + weight * frames * reported,
  };
  return { ...solve(lessons), samples: calibration.samples + 1, lessons };
}

/** The factor and the frame that explain the lessons best, within their bounds. */
function solve(lessons: Lessons): { readonly factor: number; readonly frameTokens: number } {
  const textText = lessons.textText + ASSUMED_TEXT;
  const framesFrames = lessons.framesFrames + ASSUMED_FRAMES;
  const textReported = lessons.textReported + ASSUMED_TEXT;
  const framesReported = lessons.framesReported + ASSUMED_FRAMES * FRAME_TOKENS;
  const { textFrames } = lessons;
  const determinant = textText * framesFrames - textFrames * textFrames;
  const free = (textReported * framesFrames - textFrames * framesReported) / determinant;
  const bounded = (factor: number): number => clamp(factor, FACTOR_MINIMUM, FACTOR_MAXIMUM);
  const frameFor = (factor: number): number =>
    clamp((framesReported - textFrames * factor) / framesFrames, 0, FRAME_TOKENS_MAXIMUM);
  // A bound that is hit moves the other value: first the frame for the factor, then the factor for the frame.
  const frameTokens = frameFor(bounded(free));
  return { factor: bounded((textReported - textFrames * frameTokens) / textText), frameTokens };
}

function clamp(value: number, minimum: number, maximum: number): number {
  return Math.min(maximum, Math.max(minimum, value));
}

/** Requests below this are mostly framing; a factor made from them says nothing of text. Tokens. */
const SMALLEST_REQUEST = 500;

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
  const factor = clamp(calibration.factor * share, FACTOR_MINIMUM, FACTOR_MAXIMUM);
  const frameTokens = (calibration.frameTokens ?? FRAME_TOKENS * calibration.factor) * (factor / calibration.factor);
  return { ...calibration, factor, frameTokens };
}
