import { idempotencyKeyOf } from '../../store/attempts/tool-call-keys.ts';
import { resultLimitFor } from '../../tools/runtime/result-limit.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { RunToolInput } from '../../turn/activity-values.ts';
import { scopesOf, toolMemories } from '../turn/agent-memories.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { recallOf } from './recall-of.ts';

/** The tools that the turn's agent was offered, as this worker has them. */
export function offerOf({ tools, secrets }: ActivityDependencies, snapshot: AgentSnapshot) {
  const names = snapshot.tools.map((tool) => tool.name);
  return { secrets, offered: tools.offeredTo({ tools: names, allowCommands: snapshot.allowCommands }) };
}

/** What a tool gets, besides its signal and its output. */
export function contextOf(
  dependencies: ActivityDependencies,
  call: RunToolInput & { readonly attempt: number },
  snapshot: AgentSnapshot,
) {
  const { turn, attempt } = call;
  const { turnId, conversationId } = turn;
  return {
    conversationId,
    turnId,
    attempt,
    workspace: snapshot.workspace,
    protectedPaths: dependencies.protectedPaths,
    idempotencyKey: idempotencyKeyOf(call),
    progress: () => undefined,
    resultLimit: resultLimitFor(snapshot.modelLimits.window),
    memory: recallOf(dependencies, conversationId, snapshot.memory === undefined ? [] : scopesOf(snapshot)),
    memories: toolMemories(dependencies, { call, snapshot }),
  };
}
