import { requestDecisions as request } from '../../store/messages/decisions.ts';
import type { WantedDecision } from '../../store/messages/decisions.ts';
import { readAnswer } from '../../store/attempts/model-calls.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import type { RequestDecisionsInput, RequestDecisionsResult } from '../../turn/activity-values.ts';
import { DECISION_EXPIRES_AFTER_SECONDS } from '../../turn/approval-rules.ts';
import type { Execution } from '../runtime/activity-shell.ts';
import { wantedDecision } from './decided-call.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { LackedHere, lacksTool, takeOn } from '../runtime/hand-over.ts';

/**
 * Finds the calls of an answer that a person must decide on and writes that they wait. Asked again after a decision or
 * when time is over, it says what still waits.
 */
export async function requestDecisions(
  dependencies: ActivityDependencies,
  { turn, callNumber, runnable }: RequestDecisionsInput,
  execution: Execution,
): Promise<RequestDecisionsResult> {
  const { database } = dependencies;
  const [answer, { snapshot }] = await Promise.all([
    readAnswer(database, { turn, callNumber }),
    readSnapshot(database, turn.turnId),
  ]);
  const wanted: WantedDecision[] = [];
  let lacking: string | null = null;
  for (const part of answer?.content ?? []) {
    if (part.type !== 'tool_call' || part.index >= runnable) continue;
    if (lacksTool(dependencies, snapshot, part.name)) lacking ??= part.name;
    const call = { name: part.name, argumentsText: part.arguments };
    const decision = await wantedDecision(dependencies, snapshot, call);
    if (decision !== null) wanted.push({ callIndex: part.index, tool: part.name, ...decision });
  }
  const open = await request(database, {
    turn,
    callNumber,
    agent: snapshot.agent,
    expiresAfterSeconds: snapshot.approvals?.expiresAfterSeconds ?? DECISION_EXPIRES_AFTER_SECONDS,
    wanted,
  });
  dependencies.reachCrashPoint('requestDecisions:written');
  // Whether a call asks is its tool's own word. While others wait anyhow, nobody waits for that.
  if (lacking !== null && open.waiting === 0) throw new LackedHere({ needs: 'tool', name: lacking });
  await takeOn(dependencies, turn, execution.attempt);
  return open;
}
