import type { Calibration } from '../context/plan.ts';
import type { Database } from './database.ts';

/** What was learned of a model; factor 1 and no samples when nothing was. */
export async function readCalibration(_sql: Database, _model: string): Promise<Calibration> {
  throw new Error('unwritten');
}

/** Applies a lesson to the newest value, under a row lock, so that no concurrent one is lost. */
export async function updateCalibration(
  _sql: Database,
  _model: string,
  _learn: (current: Calibration) => Calibration,
): Promise<Calibration> {
  throw new Error('unwritten');
}
