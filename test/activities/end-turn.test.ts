import { expect, test } from 'vitest';
import { endTurn } from '../../src/activities/turn/begin-and-end-turn.ts';
import { readFit } from '../../src/activities/compaction/plan-compaction.ts';
import { estimateTokens } from '../../src/context/log/estimate.ts';
import { addMeasurements } from '../../src/context/log/measurements.ts';
import { commitCompaction } from '../../src/store/compactions/commit-compaction.ts';
import { listEvents } from '../../src/store/log/events.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { prose } from '../context/builders.ts';
import { commitRequest, plan, turnWithSteps } from '../store/support/compaction-builders.ts';
import { answer, finishToolCall, useTestStore, startTurn, text } from '../store/support/store-builders.ts';
import { activityDependencies } from './support/activity-dependencies.ts';

const { sql } = useTestStore();

/** What the end of the turn tells. */
async function endOf(turn: TurnReference) {
  await endTurn(activityDependencies(sql), { turn, outcome: 'completed', reason: null });
  const events = await listEvents(sql, { conversationId: turn.conversationId });
  expect(events.at(-1)?.kind).toBe('turn_ended');
  return events.at(-1)?.data ?? {};
}

test('G17 what came after the counted answer is trailing, by the estimate', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls: 1 });
  const result = text(prose(4_000));
  await finishToolCall(sql, turn, 1, 0, result);
  const { calibration } = await readFit(sql, turn);
  const trailing = estimateTokens(result.measurements, calibration);
  expect(trailing).toBeGreaterThan(500);
  // 100 read and 20 written, as the provider counted them.
  expect(await endOf(turn)).toMatchObject({ usageTokens: 120, trailingTokens: trailing });
});

test('G17 without a count since the newest compaction everything is estimated', async () => {
  const turn = await turnWithSteps(sql);
  await commitCompaction(sql, commitRequest(turn, (await plan(sql, turn)).compaction.compactionId));
  const { view, fixed, calibration } = await readFit(sql, turn);
  const tokens = estimateTokens(addMeasurements(view, fixed), calibration);
  expect(tokens).toBeGreaterThan(0);
  expect(await endOf(turn)).toMatchObject({ contextTokens: tokens, usageTokens: null, trailingTokens: tokens });
});
