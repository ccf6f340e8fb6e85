import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { assessError } from '../../../src/models/assess-error.ts';

/**
 * Wordings of public reports and invented ones, one a line: what each means. They keep the rules
 * from losing what they could read; a rule must not be made for one of them alone.
 */
const wording = z.object({
  kind: z.string(),
  repair: z.string().optional(),
  status: z.number().nullable().default(400),
  message: z.string().optional(),
  body: z.unknown().optional(),
  /** Null: the wording names none. */
  actual: z.number().nullable().optional(),
  limit: z.number().nullable().optional(),
});

const wordings = readFileSync(new URL('wordings.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => wording.parse(JSON.parse(line)));

const kinds = [...new Set(wordings.map(({ kind }) => kind))];

describe('what a wording means', () => {
  test.each(kinds)('%s', (kind) => {
    const ofKind = wordings.filter((each) => each.kind === kind);
    const wrong = ofKind.filter(({ status, message, body, repair, actual, limit }) => {
      const sent = body ?? { error: { message } };
      const raw = { provider: 'some', status: status ?? undefined, headers: {}, body: sent, streamed: false };
      const assessed = assessError({ ...raw, text: undefined }, 0);
      const same = (wanted: number | null | undefined, found: number | undefined): boolean =>
        wanted === undefined || (wanted ?? undefined) === found;
      const figures = same(actual, assessed.actual) && same(limit, assessed.limit);
      return assessed.kind !== kind || (repair ?? assessed.repair) !== assessed.repair || !figures;
    });
    expect(ofKind.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });
});
