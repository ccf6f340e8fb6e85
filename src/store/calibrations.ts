import type { Calibration } from '../context/plan.ts';
import type { Database, Queries } from './database.ts';
import { transaction } from './transaction.ts';

/** What was learned of a model; factor 1 and no samples when nothing was. */
export async function readCalibration(sql: Queries, model: string): Promise<Calibration> {
  const [row] = await sql<{ factor: number; samples: number }[]>`
    select factor, samples from model_calibrations where model = ${model}`;
  return { factor: row?.factor ?? 1, samples: row?.samples ?? 0 };
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
      insert into model_calibrations (model, factor, samples) values (${model}, ${learned.factor}, ${learned.samples})
      on conflict (model) do update
      set factor = excluded.factor, samples = excluded.samples, updated_at = holdfast_now()`;
    return learned;
  });
}
