import { anchoredCalibration } from '../../context/log/anchored-calibration.ts';
import { addMeasurements } from '../../context/log/measurement-arithmetic.ts';
import type { Database } from '../../store/database/database.ts';
import { readFitCheck } from '../../store/compactions/fit-check.ts';
import type { FitCheck } from '../../store/compactions/fit-check.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';

/** The fit check with the calibration that agrees with the newest count of the provider. */
export async function readFit(database: Database, turn: TurnReference): Promise<FitCheck> {
  const check = await readFitCheck(database, turn);
  const request = addMeasurements(check.view, check.fixed);
  return { ...check, calibration: anchoredCalibration(check.calibration, request, check.reported) };
}
