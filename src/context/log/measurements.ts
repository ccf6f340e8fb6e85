/**
 * What is counted of a content when it is stored. Additive, so sums along a branch are exact and
 * any estimator can be applied to old rows without reading their text.
 */
export interface Measurements {
  /**
   * Letters of alphabetic scripts (Latin, Cyrillic, Greek …), and punctuation right after punctuation, which costs about as
   * little. UTF-16 code units, as all character counts here.
   */
  readonly letters: number;
  /** Digits, punctuation that begins a run, symbols: the dense part of code and JSON. */
  readonly symbols: number;
  /** Spaces that stand alone between words. */
  readonly spaces: number;
  /** White space in runs of two or more, and line breaks. */
  readonly whitespaceRuns: number;
  /** Chinese, Japanese, Korean and other scripts without alphabet. */
  readonly ideographs: number;
  /** Characters in unbroken runs that no word explains: base64, hashes, hex. */
  readonly dense: number;
  /** UTF-8 bytes of the text, plus the bytes of media. */
  readonly bytes: number;
  readonly images: number;
  /** Sum over images of ceil(width / 28) × ceil(height / 28), at most 4,000 each. */
  readonly imagePatches: number;
  readonly documentPages: number;
  /** One per entry and one per tool call: each costs a few tokens of framing. */
  readonly frames: number;
}

export const MEASUREMENT_NAMES = [
  'letters',
  'symbols',
  'spaces',
  'whitespaceRuns',
  'ideographs',
  'dense',
  'bytes',
  'images',
  'imagePatches',
  'documentPages',
  'frames',
] as const satisfies readonly (keyof Measurements)[];
