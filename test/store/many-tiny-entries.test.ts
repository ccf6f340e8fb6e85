import { afterAll, beforeAll, expect, test } from 'vitest';
import { budgetFor } from '../../src/context/policy/budget.ts';
import { NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { NO_MEASUREMENTS } from '../../src/context/log/measurements.ts';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { readPlanSource } from '../../src/store/compactions/fit-check.ts';
import { openTestStore, startTurn } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

const ENTRIES = 30_000;
const LIMITS = { window: 200_000, maximumOutput: 16_000 };
let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

test('30,000 tiny entries in Postgres are read in blocks and summarized, and every one of them stays', async () => {
  const { sql } = store;
  const turn = await startTurn(sql);
  await sql.begin(async (open) => {
    // Triggers and foreign keys would take a minute; the blocks are packed by the function that they call.
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      insert into entries (id, parent_id, conversation_id, sequence, branch, turn_id, epoch, kind, content, measurements, sums)
      select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
        ('00000000-0000-7000-8000-' || lpad((n - 1)::text, 12, '0'))::uuid, ${turn.conversationId}, n, 0, ${turn.turnId}, 1, 'user', '[{"type":"text","text":"Go on."}]'::json,
        row(5, 1, 1, 0, 0, 0, 6, 0, 0, 0, 1)::measurements,
        row(5 * n, n, n, 0, 0, 0, 6 * n, 0, 0, 0, n)::measurements
      from generate_series(2, ${ENTRIES}::int) as n`;
    await open`
      update conversations c set last_sequence = ${ENTRIES}, head_entry_id = e.id
      from entries e where c.id = ${turn.conversationId} and e.conversation_id = c.id and e.sequence = ${ENTRIES}`;
  });
  await sql`select pack_outlines(${turn.conversationId}, b) from generate_series(0, ${Math.floor(ENTRIES / 256) - 1}) as b`;

  const { entries } = await readPlanSource(sql, turn);
  expect(entries.length).toBe(ENTRIES);
  const result = planCompaction({
    policy: DEFAULT_POLICY,
    budget: budgetFor(DEFAULT_POLICY, LIMITS),
    calibration: NO_CALIBRATION,
    summarizer: LIMITS,
    fixed: NO_MEASUREMENTS,
    entries,
    summary: null,
    operations: [],
    turnId: turn.turnId,
    reason: 'threshold',
  });
  if (result.kind !== 'planned') throw new Error(`not planned: ${result.kind}`);
  expect(result.plan.coveredThroughSequence).toBeGreaterThan(ENTRIES / 2);
  expect(result.plan.tokensAfter).toBeLessThan(result.plan.tokensBefore / 2);
  expect(result.plan.parts.length).toBeLessThanOrEqual(48);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from entries where conversation_id = ${turn.conversationId}`;
  expect(row?.count).toBe(ENTRIES);
});
