import type { Execution } from '../../../src/activities/runtime/activity.ts';
import { callModel } from '../../../src/activities/model/call-model.ts';
import type { ActivityDependencies } from '../../../src/activities/runtime/dependencies.ts';
import { summarize } from '../../../src/activities/compaction/summarize.ts';
import type { Database } from '../../../src/store/database/database.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { plan } from '../../store/support/compaction-builders.ts';
import { headOf, startTurn, step } from '../../store/support/store-builders.ts';

/** An activity that asks a model, ready to be tried any number of times. */
export interface AskingWork {
  readonly turn: TurnReference;
  readonly attempt: (dependencies: ActivityDependencies, execution: Execution) => Promise<unknown>;
}

export async function modelCall(sql: Database): Promise<AskingWork> {
  const turn = await startTurn(sql);
  const headEntryId = await headOf(sql, turn.conversationId);
  return {
    turn,
    attempt: (dependencies, execution) => callModel(dependencies, { turn, callNumber: 1, headEntryId }, execution),
  };
}

export async function summary(sql: Database): Promise<AskingWork> {
  const turn = await startTurn(sql);
  await step(sql, turn, 1);
  await step(sql, turn, 2);
  const { compactionId } = (await plan(sql, turn)).compaction;
  return {
    turn,
    attempt: (dependencies, execution) => summarize(dependencies, { turn, compactionId, part: 1 }, execution),
  };
}
