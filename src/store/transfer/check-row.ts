import postgres from 'postgres';
import { z } from 'zod';
import { contentProblem } from '../../context/log/content.ts';
import { RecordingError } from '../log/record-log.ts';
import type { FileRow } from './conversation-file.ts';

/** What turns of ten thousand years would not come to; far from where Postgres's integers end. */
const LARGEST_NUMBER = 1_000_000_000;
/** Postgres's numbers of types. */
const [INT8, INT4, JSON_TYPE, FLOAT4] = [20, 23, 114, 700];

/** The columns of a table that a file may hold, with Postgres's numbers of their types. */
export type Columns = ReadonlyMap<string, number>;

const count = z.int().min(0).max(LARGEST_NUMBER);
const text = z.string();
/** A composite of Postgres: small enough that sums of many stay within its numbers. */
const measurements = text.regex(/^\((?:-?\d{1,12},)*-?\d{1,12}\)$/u).nullable();

/** What a column holds, alike in all tables, where its type does not say it. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  content: z.custom((value) => contentProblem(value) === null),
  text,
  focus: text.nullable(),
  summary: text.nullable(),
  files: z.looseObject({ read: z.array(text), modified: z.array(text) }).nullable(),
  sections: z.array(z.looseObject({ title: text, text })).nullable(),
  plan: z.looseObject({
    droppedMessages: count,
    inPlace: z.boolean().optional(),
    keptSequences: z.array(count),
    parts: z.array(z.looseObject({ number: count })),
  }),
  turn: count.min(1),
  // Of its own entries a branch has all: as far as integers go.
  throughSequence: z.int32().min(0),
  scope: z.enum(['agent', 'user', 'workspace']),
  data: z.base64(),
  measurements,
  summaryMeasurements: measurements,
  viewAfter: measurements,
  viewOffset: measurements,
};

/**
 * Refuses what Postgres would take, and nobody could read again. Which columns may be null, and what else a value must be, Postgres knows.
 * @throws RecordingError
 */
export function checkRow({ table, row }: FileRow, columns: Columns | undefined): void {
  if (columns === undefined) throw new RecordingError(`there is no table ${JSON.stringify(table)} in such a file`);
  const wrong = Object.entries(row).find(([column, value]) => !isExpected(column, columns.get(column), value));
  if (wrong === undefined) return;
  const [column] = wrong;
  throw new RecordingError(`"${postgres.fromCamel(column)}" of ${table} is not what Holdfast writes there`);
}

function isExpected(column: string, type: number | undefined, value: unknown): boolean {
  if (type === undefined) return false;
  const shape = SHAPES[column];
  if (shape !== undefined) return shape.safeParse(value).success;
  const isNumber = type === INT4 || type === INT8 || type === FLOAT4;
  const isInRange = isNumber
    ? typeof value === 'number' && value >= 0 && value <= LARGEST_NUMBER
    : typeof value === 'string';
  return value == null || isInRange;
}

export function isJson(columns: Columns | undefined, column: string): boolean {
  return columns?.get(column) === JSON_TYPE;
}
