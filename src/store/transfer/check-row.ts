import postgres from 'postgres';
import { z } from 'zod';
import { contentProblem } from '../../context/log/content.ts';
import { RecordingError } from '../log/record-log.ts';
import type { FileRow } from './conversation-file.ts';

/** What turns of ten thousand years would not come to; far from where Postgres's integers end. */
const LARGEST_NUMBER = 1_000_000_000;
const count = z.int().min(0).max(LARGEST_NUMBER);
const text = z.string();
const words = text.nullable();
/** A composite of Postgres: small enough that sums of many stay within its numbers. */
const measurements = text.regex(/^\((?:-?\d{1,12},)*-?\d{1,12}\)$/u).nullable();

/** JSON, by the names of columns. */
const JSON_SHAPES: Readonly<Record<string, z.ZodType>> = {
  content: z.custom((value) => contentProblem(value) === null),
  text,
  focus: words,
  summary: words,
  files: z.looseObject({ read: z.array(text), modified: z.array(text) }).nullable(),
  sections: z.array(z.looseObject({ title: text, text })).nullable(),
  plan: z.looseObject({
    droppedMessages: count,
    inPlace: z.boolean().optional(),
    keptSequences: z.array(count),
    parts: z.array(z.looseObject({ number: count })),
  }),
};

const SHAPES: Readonly<Record<string, z.ZodType>> = {
  ...JSON_SHAPES,
  turn: count.min(1),
  // Of its own entries a branch has all: as far as integers go.
  throughSequence: z.int32().min(0),
  scope: z.enum(['agent', 'user', 'workspace']),
  toolName: words,
  model: words,
  data: z.base64(),
  measurements,
  summaryMeasurements: measurements,
  viewAfter: measurements,
  viewOffset: measurements,
};
const ANY_OTHER = z.union([text, z.number().min(0).max(LARGEST_NUMBER)]).nullish();

/**
 * Refuses what Postgres would take, and nobody could read again. Which columns may be null, and what else a value must be, Postgres knows.
 * @throws RecordingError
 */
export function checkRow({ table, row }: FileRow, columns: ReadonlySet<string> | undefined): void {
  if (columns === undefined) throw new RecordingError(`there is no table ${JSON.stringify(table)} in such a file`);
  const wrong = Object.entries(row).find(
    ([column, value]) => !columns.has(column) || !(SHAPES[column] ?? ANY_OTHER).safeParse(value).success,
  );
  if (wrong === undefined) return;
  const [column] = wrong;
  throw new RecordingError(`"${postgres.fromCamel(column)}" of ${table} is not what Holdfast writes there`);
}

export function isJson(column: string): boolean {
  return Object.hasOwn(JSON_SHAPES, column);
}
