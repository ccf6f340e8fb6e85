import { MEASUREMENT_NAMES, measurementsBy } from '../../context/log/measurements.ts';
import type { Measurements } from '../../context/log/measurements.ts';

/**
 * Measurements are one column of the composite type `measurements`, whose attributes stand in the
 * order of `MEASUREMENT_NAMES`. Its text form is `(1,2,…)`; the driver passes it as a string.
 */

/** For a parameter, as `${measurementsText(value)}::measurements`. */
export function measurementsText(measurements: Measurements): string {
  return `(${MEASUREMENT_NAMES.map((name) => Math.round(measurements[name])).join(',')})`;
}

export function parseMeasurements(text: string): Measurements {
  const numbers = text.slice(1, -1).split(',').values();
  return measurementsBy(() => Number(numbers.next().value ?? 0));
}
