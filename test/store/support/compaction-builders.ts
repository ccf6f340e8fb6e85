import { NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import type { CompactionPlan } from '../../../src/context/plan/plan.ts';
import { commitCompaction } from '../../../src/store/compactions/commit-compaction.ts';
import { storePlan } from '../../../src/store/compactions/compactions.ts';
import type { CommitCompactionRequest, NewSummary } from '../../../src/store/compactions/commit-compaction.ts';
import type { CompactionRow } from '../../../src/store/compactions/compactions.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { newId } from '../../../src/store/database/ids.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { FIRST_ATTEMPT, headOf, startTurn, step } from './store-builders.ts';

/** An attempt of a summary. */
export const NEW_ATTEMPT = { by: FIRST_ATTEMPT, model: 'sim/sim-32k', estimatedTokens: 500 };

/** A plan that cuts before `firstKeptSequence` with one part. */
export function planWithCut(firstKeptSequence: number, overrides: Partial<CompactionPlan> = {}): CompactionPlan {
  return {
    form: 'summary',
    firstKeptSequence,
    opensWithMarker: false,
    keptFromMarker: false,
    droppedMessages: 0,
    insideTurn: false,
    turnIsOver: false,
    coveredThroughSequence: firstKeptSequence - 1,
    keptSequences: [],
    operations: [],
    parts: [
      {
        number: 1,
        wave: 1,
        kind: 'history',
        fromSequence: 1,
        toSequence: firstKeptSequence - 1,
        inputTokens: 500,
        maximumOutput: 200,
      },
    ],
    summaryLimit: 250,
    shown: { framing: { opening: 'SUMMARY', closing: 'END' }, afterSequence: 0 },
    acceptedTokens: 600,
    requiredGain: 100,
    continuation: false,
    tokensBefore: 1_000,
    tokensAfter: 400,
    ...overrides,
  };
}

/** Entries: user 1, answer 2, result 3, answer 4, result 5. */
export async function turnWithSteps(sql: Database): Promise<TurnReference> {
  const turn = await startTurn(sql);
  await step(sql, turn, 1);
  await step(sql, turn, 2);
  return turn;
}

/** Stores a plan for the present head. */
export async function plan(
  sql: Database,
  turn: TurnReference,
  given: CompactionPlan = planWithCut(4),
): Promise<{ readonly compaction: CompactionRow; readonly joined: boolean }> {
  return storePlan(sql, {
    turn,
    callNumber: 3,
    compactionId: newId(),
    plan: given,
    reason: 'threshold',
    preset: 'default',
    headEntryId: await headOf(sql, turn.conversationId),
  });
}

export const SUMMARY: NewSummary = {
  text: 'Goal: read.\0\uD800',
  measurements: { ...NO_MEASUREMENTS, letters: 9 },
  files: { read: ['a.txt'], modified: [] },
  model: 'sim/sim-32k',
  promptVersion: 'history-1',
};

export function commitRequest(
  turn: TurnReference,
  compactionId: string,
  overrides: Partial<CommitCompactionRequest> = {},
): CommitCompactionRequest {
  return {
    turn,
    compactionId,
    summary: SUMMARY,
    viewAfter: { ...NO_MEASUREMENTS, letters: 50 },
    tokensAfter: 300,
    continuation: null,
    ...overrides,
  };
}

/** Plans and commits at the present head; returns the id of the compaction. */
export async function compact(
  sql: Database,
  turn: TurnReference,
  given?: CompactionPlan,
  summary: Partial<NewSummary> = {},
): Promise<string> {
  const { compactionId } = (await plan(sql, turn, given)).compaction;
  await commitCompaction(sql, commitRequest(turn, compactionId, { summary: { ...SUMMARY, ...summary } }));
  return compactionId;
}

/** Turns what is planned into a plan of the weakest form that wins nothing, which no planning would make. */
export async function makePlansUseless(database: Database): Promise<void> {
  await database.begin(async (sql) => {
    await sql`set local role none`;
    await sql`set local session_replication_role = replica`;
    await sql`delete from compaction_parts`;
    await sql`
      update compactions set form = 'clip_only', tokens_before = 1, plan = (plan::jsonb || '{"form": "clip_only", "parts": [], "operations": []}')::json
      where status = 'planned'`;
  });
}
