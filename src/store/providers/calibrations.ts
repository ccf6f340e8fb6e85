import { NO_CALIBRATION } from '../../context/log/estimate.ts';
import type { Calibration, Lessons, ModelLimits } from '../../context/plan/plan.ts';
import type { Database, Queries } from '../database/database.ts';

/** A model and where it is served, for the tenant of a conversation: a server may send each its own. */
export interface CalibratedModel {
  readonly conversationId: string;
  readonly model: string;
  readonly limits: Pick<ModelLimits, 'server'>;
}

/** What was learned of a model at its server; factor 1 and no samples when nothing was. */
export async function readCalibration(sql: Queries, of: CalibratedModel): Promise<Calibration> {
  return (await readVersion(sql, of))?.calibration ?? NO_CALIBRATION;
}

/** @returns with the version of the row, `null` where there is none; of a deleted conversation, nothing */
async function readVersion(
  sql: Queries,
  { model, limits, conversationId }: CalibratedModel,
): Promise<{ readonly calibration: Calibration; readonly version: string | null } | null> {
  const [row] = await sql<(CalibrationColumns & { lessons: Lessons | null; version: string | null })[]>`
    select coalesce(f.factor, 1) as factor, f.frame_tokens, coalesce(f.samples, 0) as samples, f.lessons,
      f.xmin::text as version
    from conversations c
    left join model_facts f on f.tenant = c.tenant and f.model = ${model} and f.server = ${limits.server ?? ''}
    where c.id = ${conversationId}`;
  if (row === undefined) return null;
  const calibration = { ...toCalibration(row), ...(row.lessons !== null && { lessons: row.lessons }) };
  return { calibration, version: row.version };
}

export interface CalibrationColumns {
  readonly factor: number;
  readonly frameTokens: number | null;
  readonly samples: number;
}

export function toCalibration({ factor, frameTokens, samples }: CalibrationColumns): Calibration {
  return { factor, samples, ...(frameTokens !== null && { frameTokens }) };
}

/**
 * Applies a lesson to the newest value. Two that are learned at once follow each other: the one that comes second finds another
 * version of the row than it has read, and learns from that. A lock would take five statements instead of two, after each call of
 * a model. Committed without waiting for the disk: a lesson that a crash of Postgres loses is learned again.
 */
export async function updateCalibration(
  sql: Database,
  of: CalibratedModel,
  learn: (current: Calibration) => Calibration,
): Promise<Calibration> {
  for (;;) {
    const found = await readVersion(sql, of);
    if (found === null) return NO_CALIBRATION;
    const { calibration, version } = found;
    const learned = learn(calibration);
    if (learned === calibration || learned.samples === 0 || (await replaceVersion(sql, of, { learned, version })))
      return learned;
  }
}

/** `false`: another lesson was written since that version was read. */
async function replaceVersion(
  sql: Database,
  { model, limits, conversationId }: CalibratedModel,
  { learned, version }: { readonly learned: Calibration; readonly version: string | null },
): Promise<boolean> {
  const { count } = await sql`
    insert into model_facts as f (model, server, tenant, factor, frame_tokens, samples, lessons)
    select ${model}, ${limits.server ?? ''}, c.tenant, ${learned.factor}::float8, ${learned.frameTokens ?? null}::float8, ${learned.samples}::int,
      ${learned.lessons === undefined ? null : JSON.stringify(learned.lessons)}::text::json
    from conversations c cross join (select set_config('synchronous_commit', 'off', true)) as committed
    where c.id = ${conversationId}
    on conflict (model, server, tenant) do update
    set factor = excluded.factor, frame_tokens = excluded.frame_tokens, samples = excluded.samples,
      lessons = excluded.lessons
    where f.xmin::text = ${version}`;
  return count === 1;
}
