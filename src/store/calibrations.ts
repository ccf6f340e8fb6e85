import { NO_CALIBRATION } from '../context/estimate.ts';
import type { Calibration, Lessons } from '../context/plan.ts';
import type { Database, Queries } from './database.ts';
import { transaction } from './transaction.ts';

/** What was learned of a model; factor 1 and no samples when nothing was. */
export async function readCalibration(sql: Queries, model: string): Promise<Calibration> {
  const [row] = await sql<(CalibrationColumns & { lessons: Lessons | null })[]>`
    select factor, frame_tokens, samples, lessons from model_calibrations where model = ${model}`;
  if (row === undefined) return NO_CALIBRATION;
  return { ...toCalibration(row), ...(row.lessons !== null && { lessons: row.lessons }) };
}

export interface CalibrationColumns {
  readonly factor: number;
  readonly frame_tokens: number | null;
  readonly samples: number;
}

export function toCalibration({ factor, frame_tokens: frameTokens, samples }: CalibrationColumns): Calibration {
  return { factor, samples, ...(frameTokens !== null && { frameTokens }) };
}

/**
 * Applies a lesson to the newest value; concurrent lessons of one model follow each other. Committed
 * without waiting for the disk: a lesson that a crash of Postgres loses is learned again.
 */
export async function updateCalibration(
  sql: Database,
  model: string,
  learn: (current: Calibration) => Calibration,
): Promise<Calibration> {
  return transaction(sql, async (open) => {
    await open`
      select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended(${model}, 0))`;
    const learned = learn(await readCalibration(open, model));
    if (learned.samples === 0) return learned;
    await open`
      insert into model_calibrations (model, factor, frame_tokens, samples, lessons)
      values (${model}, ${learned.factor}, ${learned.frameTokens ?? null}, ${learned.samples},
        ${learned.lessons === undefined ? null : JSON.stringify(learned.lessons)}::text::json)
      on conflict (model) do update
      set factor = excluded.factor, frame_tokens = excluded.frame_tokens, samples = excluded.samples,
        lessons = excluded.lessons, updated_at = holdfast_now()`;
    return learned;
  });
}
