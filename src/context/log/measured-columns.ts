import type { Measurements } from './measurements.ts';

/** Measurements of many contents, one column for each number. */
export type MeasuredColumns = Readonly<Record<keyof Measurements, Float64Array>>;

export function emptyMeasuredColumns(length: number): MeasuredColumns {
  const column = (): Float64Array => new Float64Array(length);
  return {
    letters: column(),
    symbols: column(),
    spaces: column(),
    whitespaceRuns: column(),
    ideographs: column(),
    dense: column(),
    bytes: column(),
    images: column(),
    imagePatches: column(),
    documentPages: column(),
    frames: column(),
  };
}

// Field by field, as in the arithmetic: a loop over names takes ten times as long.

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

/** `characterCount` of a content. */
export function charactersAt(columns: MeasuredColumns, position: number): number {
  return (
    (columns.letters[position] ?? 0) +
    (columns.symbols[position] ?? 0) +
    (columns.spaces[position] ?? 0) +
    (columns.whitespaceRuns[position] ?? 0) +
    (columns.ideographs[position] ?? 0) +
    (columns.dense[position] ?? 0)
  );
}

export function setMeasurements(columns: MeasuredColumns, position: number, measurements: Measurements): void {
  columns.letters[position] = measurements.letters;
  columns.symbols[position] = measurements.symbols;
  columns.spaces[position] = measurements.spaces;
  columns.whitespaceRuns[position] = measurements.whitespaceRuns;
  columns.ideographs[position] = measurements.ideographs;
  columns.dense[position] = measurements.dense;
  columns.bytes[position] = measurements.bytes;
  columns.images[position] = measurements.images;
  columns.imagePatches[position] = measurements.imagePatches;
  columns.documentPages[position] = measurements.documentPages;
  columns.frames[position] = measurements.frames;
}
