import type { Execution } from '../../../src/activities/runtime/activity.ts';
import { callModel } from '../../../src/activities/model/call-model.ts';
import { changeBranch } from '../../../src/activities/turn/change-branch.ts';
import type { ActivityDependencies } from '../../../src/activities/runtime/dependencies.ts';
import { summarize } from '../../../src/activities/compaction/summarize.ts';
import { NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { endTurn } from '../../../src/store/turns/end-turn.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { acceptMessage } from '../../../src/store/messages/messages.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { plan } from '../../store/support/compaction-builders.ts';
import {
  answer,
  closeToolCall,
  continueConversation,
  headOf,
  startTurn,
  step,
} from '../../store/support/store-builders.ts';

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

export async function branchSummary(sql: Database): Promise<AskingWork> {
  const first = await startTurn(sql);
  await answer(sql, first, 1);
  await endTurn(sql, { turn: first, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  const { conversationId } = first;
  const target = { entryId: null, summarizes: true };
  const content = { content: [], measurements: NO_MEASUREMENTS };
  await acceptMessage(sql, { id: newId(), conversationId, kind: 'fork', ...content, target });
  const turn = await continueConversation(sql, conversationId);
  return { turn, attempt: (dependencies, execution) => changeBranch(dependencies, { turn }, execution) };
}
