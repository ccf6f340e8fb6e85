import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addMeasurements, subtractMeasurements, MEASUREMENT_NAMES } from '../../src/context/log/measurements.ts';
import type { Measurements } from '../../src/context/log/measurements.ts';
import type { Database } from '../../src/store/database/database.ts';
import { measurementsText, parseMeasurements } from '../../src/store/log/measurement-columns.ts';
import { openTestStore } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;

beforeAll(async () => {
  store = await openTestStore(1);
  ({ sql } = store);
});
afterAll(() => store.close());

const CHARACTERS = fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 });
const PARTS = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });
/** Of media and messages there are never so many as characters. */
const COUNTED_IN_PARTS: ReadonlySet<string> = new Set(['images', 'imagePatches', 'documentPages', 'frames']);
const MEASUREMENTS = fc
  .tuple(...MEASUREMENT_NAMES.map((name) => (COUNTED_IN_PARTS.has(name) ? PARTS : CHARACTERS)))
  .map((numbers) => parseMeasurements(`(${numbers.join(',')})`));

describe('the column type', () => {
  it('has the attributes of Measurements, in the same order', async () => {
    const rows = await sql<{ name: string }[]>`
      select attname as name from pg_attribute
      where attrelid = 'measurements'::regclass and attnum > 0 order by attnum`;
    const names = rows.map(({ name }) => name.replaceAll(/_(.)/gu, (_, letter: string) => letter.toUpperCase()));
    expect(names).toEqual(MEASUREMENT_NAMES);
  });

  it('keeps, adds and subtracts as the code does', async () => {
    await fc.assert(
      fc.asyncProperty(MEASUREMENTS, MEASUREMENTS, async (left, right) => {
        const [a, b] = [measurementsText(left), measurementsText(right)];
        const [row] = await sql<Record<'same' | 'sum' | 'difference' | 'total', string>[]>`
          select ${a}::measurements as same, ${a}::measurements + ${b}::measurements as sum,
            ${a}::measurements - ${b}::measurements as difference,
            (select sum(m) from (values (${a}::measurements), (${b}::measurements)) as v (m)) as total`;
        const parsed = (name: 'same' | 'sum' | 'difference' | 'total'): Measurements =>
          parseMeasurements(row?.[name] ?? '');
        expect(parsed('same')).toEqual(left);
        expect(parsed('sum')).toEqual(addMeasurements(left, right));
        expect(parsed('total')).toEqual(addMeasurements(left, right));
        expect(parsed('difference')).toEqual(subtractMeasurements(left, right));
      }),
      { numRuns: 12 },
    );
  });
});
