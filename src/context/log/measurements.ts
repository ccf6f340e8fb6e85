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

/** A value for each name, in the order in which they are stored. A loop over the names takes ten times as long. */
export function measurementsBy<Value>(valueOf: (name: keyof Measurements) => Value): Record<keyof Measurements, Value> {
  return {
    letters: valueOf('letters'),
    symbols: valueOf('symbols'),
    spaces: valueOf('spaces'),
    whitespaceRuns: valueOf('whitespaceRuns'),
    ideographs: valueOf('ideographs'),
    dense: valueOf('dense'),
    bytes: valueOf('bytes'),
    images: valueOf('images'),
    imagePatches: valueOf('imagePatches'),
    documentPages: valueOf('documentPages'),
    frames: valueOf('frames'),
  };
}

export const NO_MEASUREMENTS: Measurements = measurementsBy(() => 0);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant are its names
export const MEASUREMENT_NAMES = Object.keys(NO_MEASUREMENTS) as readonly (keyof Measurements)[];

export function addMeasurements(left: Measurements, right: Measurements): Measurements {
  return measurementsBy((name) => left[name] + right[name]);
}

export function sumMeasurements(all: Iterable<Measurements>): Measurements {
  let result = NO_MEASUREMENTS;
  for (const measurements of all) result = addMeasurements(result, measurements);
  return result;
}

/** Exact; parts of a sum can be taken out again. May turn negative when `right` is no part of `left`. */
export function subtractMeasurements(left: Measurements, right: Measurements): Measurements {
  return addMeasurements(left, scaleMeasurements(right, -1));
}

/** Each number times `factor`, rounded: what a share of a content measures when it is like the whole. */
export function scaleMeasurements(measurements: Measurements, factor: number): Measurements {
  return measurementsBy((name) => Math.round(measurements[name] * factor));
}

/** UTF-16 code units of all text, those of characters of traditional Chinese alone twice. */
export function characterCount(of: Measurements): number {
  return of.letters + of.symbols + of.spaces + of.whitespaceRuns + of.ideographs + of.dense;
}

/** Images, or pages of a document. */
export function showsMedia({ images, documentPages }: Measurements): boolean {
  return images > 0 || documentPages > 0;
}

/** Measurements of many contents, one column for each number. */
export type MeasuredColumns = Readonly<Record<keyof Measurements, Float64Array>>;

export function emptyMeasuredColumns(length: number): MeasuredColumns {
  return measurementsBy(() => new Float64Array(length));
}

/** Field by field: planning reads these of 50,000 entries, and a function for each name takes twice as long. */
export function measurementsAt(columns: MeasuredColumns, position: number): Measurements {
  return {
    letters: columns.letters[position] ?? 0,
    symbols: columns.symbols[position] ?? 0,
    spaces: columns.spaces[position] ?? 0,
    whitespaceRuns: columns.whitespaceRuns[position] ?? 0,
    ideographs: columns.ideographs[position] ?? 0,
    dense: columns.dense[position] ?? 0,
    bytes: columns.bytes[position] ?? 0,
    images: columns.images[position] ?? 0,
    imagePatches: columns.imagePatches[position] ?? 0,
    documentPages: columns.documentPages[position] ?? 0,
    frames: columns.frames[position] ?? 0,
  };
}

export function setMeasurements(columns: MeasuredColumns, position: number, measurements: Measurements): void {
  for (const name of MEASUREMENT_NAMES) columns[name][position] = measurements[name];
}
