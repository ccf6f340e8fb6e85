import { MEASUREMENT_NAMES } from './measurements.ts';
import type { Measurements } from './measurements.ts';

export const NO_MEASUREMENTS: Measurements = {
  letters: 0,
  symbols: 0,
  spaces: 0,
  whitespaceRuns: 0,
  ideographs: 0,
  dense: 0,
  bytes: 0,
  images: 0,
  imagePatches: 0,
  documentPages: 0,
  frames: 0,
};

function combine(
  left: Measurements,
  right: Measurements,
  operator: (left: number, right: number) => number,
): Measurements {
  const result = { ...NO_MEASUREMENTS };
  for (const name of MEASUREMENT_NAMES) result[name] = operator(left[name], right[name]);
  return result;
}

export function addMeasurements(left: Measurements, right: Measurements): Measurements {
  return combine(left, right, (a, b) => a + b);
}

export function sumMeasurements(all: Iterable<Measurements>): Measurements {
  const result = { ...NO_MEASUREMENTS };
  for (const measurements of all) for (const name of MEASUREMENT_NAMES) result[name] += measurements[name];
  return result;
}

/** Exact; parts of a sum can be taken out again. May turn negative when `right` is no part of `left`. */
export function subtractMeasurements(left: Measurements, right: Measurements): Measurements {
  return combine(left, right, (a, b) => a - b);
}

/** Each number times `factor`, rounded: what a share of a content measures when it is like the whole. */
export function scaleMeasurements(measurements: Measurements, factor: number): Measurements {
  return combine(measurements, measurements, (value) => Math.round(value * factor));
}

/** UTF-16 code units of all text. */
export function characterCount(measurements: Measurements): number {
  return (
    measurements.letters +
    measurements.symbols +
    measurements.spaces +
    measurements.whitespaceRuns +
    measurements.ideographs +
    measurements.dense
  );
}
