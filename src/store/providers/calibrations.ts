import { NO_CALIBRATION } from '../../context/log/estimate.ts';
import type { Calibration, Lessons, ModelLimits } from '../../context/plan/plan.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { Database, Fragment, Queries } from '../database/database.ts';

/** A model and where it is served, for the tenant of a conversation: a server may send each its own. */
export interface CalibratedModel {
  readonly conversationId: string;
  readonly model: string;
  readonly limits: Pick<ModelLimits, 'server'>;
}

/** What was learned of a model at its server; factor 1 and no samples when nothing was. */
export async function readCalibration(sql: Queries, of: CalibratedModel): Promise<Calibration> {
  return (await readLearned(sql, of))?.calibration ?? NO_CALIBRATION;
}

export interface LearnedCalibration {
  readonly calibration: Calibration;
  /** Of the row; `null`: there is none. */
  readonly version: string | null;
}

/** Of a deleted conversation, `null`. */
async function readLearned(
  sql: Queries,
  { model, limits, conversationId }: CalibratedModel,
): Promise<LearnedCalibration | null> {
  const [row] = await sql<{ learned: CalibrationColumns | null }[]>`
    select case when f.model is not null then ${calibrationColumns(sql)} end as learned from conversations c
    left join model_facts f on f.tenant = c.tenant and f.model = ${model} and f.server = ${limits.server ?? ''}
    where c.id = ${conversationId}`;
  return row === undefined ? null : toCalibration(row.learned ?? undefined);
}

export interface CalibrationColumns {
  readonly factor: number | null;
  readonly frameTokens: number | null;
  readonly samples: number | null;
  readonly lessons: Lessons | null;
  readonly version: string;
}

/** Of `model_facts f`, for `toCalibration`. */
export function calibrationColumns(sql: Queries): Fragment {
  return sql`json_build_object('factor', f.factor, 'frameTokens', f.frame_tokens, 'samples', f.samples,
    'lessons', f.lessons, 'version', f.xmin::text)`;
}

export function toCalibration(columns: CalibrationColumns | undefined): LearnedCalibration {
  const { factor = null, frameTokens = null, samples = null, lessons = null, version = null } = columns ?? {};
  const optional = definedOf({ frameTokens: frameTokens ?? undefined, lessons: lessons ?? undefined });
  return { calibration: { factor: factor ?? 1, samples: samples ?? 0, ...optional }, version };
}

/**
 * Applies a lesson to the newest value. Two that are learned at once follow each other: the one that comes second finds another
 * version of the row than it has read, and learns from that. A lock would take five statements instead of two, after each call of
 * a model. Committed without waiting for the disk: a lesson that a crash of Postgres loses is learned again.
 * @param read earlier. Default: it is read now
 */
export async function updateCalibration(
  sql: Database,
  of: CalibratedModel,
  learn: (current: Calibration) => Calibration,
  read?: LearnedCalibration,
): Promise<Calibration> {
  for (let found = read ?? (await readLearned(sql, of)); found !== null; found = await readLearned(sql, of)) {
    const { calibration, version } = found;
    const learned = learn(calibration);
    if (learned === calibration || learned.samples === 0 || (await replaceVersion(sql, of, { learned, version })))
      return learned;
  }
  return NO_CALIBRATION;
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
