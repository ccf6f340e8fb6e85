import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { ActivityAttempt } from '../../store/attempts/activity-attempts.ts';
import { leaveCall } from '../../store/attempts/leave-call.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { CallModelInput, CallModelResult } from '../../turn/activity-values.ts';
import type { ProviderWait } from '../../turn/provider-wait.ts';
import { completeAnswer } from '../model/answer-result.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { fallBack, prefersFallback } from '../model/fall-back.ts';
import { waitOut } from './refusal-wait.ts';

/**
 * A call that the provider has no place for yet: its turn waits in the workflow, or goes on with another model. Either way it comes
 * back under another number, so nobody may answer this one any more; an answer that an attempt before stored meanwhile is taken.
 * @throws StoreError `superseded_attempt` (a later attempt has the call)
 */
export async function waitForPlace(
  dependencies: ActivityDependencies,
  input: CallModelInput,
  wait: ProviderWait & {
    readonly snapshot: AgentSnapshot;
    /** Models given up before. */
    readonly givenUp: number;
    /** Names the call in the provider's queue. */
    readonly callKey: string;
    readonly by: ActivityAttempt;
  },
): Promise<CallModelResult> {
  const { database, providerGate, reachCrashPoint } = dependencies;
  const { snapshot, callKey, by, delayMilliseconds, reason } = wait;
  const prefersAnother = await prefersFallback(dependencies, input.turn, wait);
  const left = await leaveCall(database, { ...input, by });
  reachCrashPoint('callModel:left');
  if (left.kind === 'answered') {
    await providerGate.giveUp({ callKey, by });
    return completeAnswer(dependencies, input, snapshot, left.answer);
  }
  // Whoever left it may have changed the model too; the next call asks what to do anew.
  if (left.kind === 'left_before') return { kind: 'moved' };
  if (prefersAnother) {
    await providerGate.giveUp({ callKey, by });
    return fallBack(dependencies, input, { ...wait, attempt: null, leftBy: by });
  }
  const { provider } = parseModelName(snapshot.model);
  return waitOut(dependencies, input.turn, { activity: 'callModel', reason, delayMilliseconds, provider });
}
