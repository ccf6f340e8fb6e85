import { textOf } from '../../context/log/content.ts';
import { fixedMeasurements } from '../../context/view/system-text.ts';
import { LINES } from '../../context/log/frames.ts';
import type { WindowBreakdown } from '../../context/plan/plan.ts';
import { newId } from '../../store/database/ids.ts';
import { isStopWaiting, readWaiting } from '../../store/messages/waiting.ts';
import type {
  BeginTurnInput,
  BeginTurnResult,
  ContinueTurnResult,
  OfTurn,
  TurnSettings,
  EndTurnInput,
  EndTurnResult,
  StopLook,
} from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { DEFAULT_LOOP_LIMITS } from '../../turn/progress.ts';
import type { LoopLimits } from '../../turn/progress.ts';
import { isTimed } from '../../turn/spending.ts';
import type { SpendingLimits } from '../../turn/spending.ts';
import type { Execution } from '../runtime/activity.ts';
import { relevantMemories } from './agent-memories.ts';
import { closeToolCall } from '../tool/decisions.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import type { ConversationSettings } from '../../store/messages/messages.ts';
import { LackedHere } from '../runtime/failures.ts';
import { newText } from '../../store/log/entries.ts';
import { estimateTokens } from '../../context/log/estimate.ts';
import { breakdownWindow } from '../../context/view/view-arrangement.ts';
import { readPlanSource } from '../../store/compactions/fit-check.ts';
import { StoreError } from '../../store/database/errors.ts';
import { endTurn as storeEnd } from '../../store/turns/end-turn.ts';
import type { ContextUsage } from '../../store/turns/open-work.ts';
import { explainOutcome } from '../../turn/explain-outcome.ts';
import { readFit } from '../compaction/plan-compaction.ts';
import type { CountedFit } from '../compaction/plan-compaction.ts';
import * as store from '../../store/turns/turns.ts';

const RESUME_NOTE = `${LINES.resumed}\nThe last turn ended before the task was done. The user lets you go on: continue the task where it ended, without repeating what is done.`;

/** Takes the conversation: raises the epoch, repairs what a dead turn left, appends the waiting messages. */
export async function beginTurn(
  dependencies: ActivityDependencies,
  { conversationId }: BeginTurnInput,
  execution: Execution,
): Promise<BeginTurnResult> {
  const { workflowId, runId, scheduledAt } = execution;
  const begun = await store.beginTurn(
    dependencies.database,
    { conversationId, turnId: newId(), workflowId, runId, scheduledAt, workerIdentity: dependencies.workerIdentity },
    {
      closeToolCall: closeToolCall(dependencies),
      isNewestRun: async () => (await dependencies.newestRunOf(workflowId)) === runId,
      resumeNote: newText(RESUME_NOTE),
      memoriesFor: (sql, messages, snapshot) =>
        relevantMemories(sql, { conversationId, snapshot, goal: messages.map(textOf).join('\n') }),
      snapshotFor: async (agent, settings) => {
        const snapshot = await dependencies.snapshotFor(agent, settings, conversationId);
        await requireAgent(dependencies, conversationId, { agent, settings, snapshot });
        const rules = snapshot.rules.length === 0 ? null : newText(snapshot.rules.join('\n'));
        return { snapshot, fixed: fixedMeasurements(snapshot), rules };
      },
    },
  );
  if (begun.kind === 'nothing_waiting') return begun;
  const { turn, stopRequested, branchRequested } = begun;
  const settings = settingsOf(begun);
  return {
    kind: 'begun',
    turn,
    settings: branchRequested ? { ...settings, branchRequested } : settings,
    stopRequested,
  };
}

/**
 * Another worker of the queue may have the agent or preset that this one lacks. A stop ends the wait for it.
 * @throws LackedHere
 */
async function requireAgent(
  { database }: ActivityDependencies,
  conversationId: string,
  asked: {
    readonly agent: string;
    readonly settings: ConversationSettings;
    readonly snapshot: AgentSnapshot;
  },
): Promise<void> {
  const { refusal } = asked.snapshot;
  if (refusal?.outcome !== 'interrupted') return;
  const { isAny, isStopped } = await readWaiting(database, conversationId);
  if (!isAny || isStopped) return;
  throw new LackedHere(
    refusal.reason === 'preset_unknown'
      ? { needs: 'preset', name: asked.settings.preset ?? '' }
      : { needs: 'agent', name: asked.agent },
  );
}

/** A turn for a change of branch has one run only. */
function settingsOf({
  snapshot,
  commandOnly,
  limits,
}: {
  readonly snapshot: AgentSnapshot;
  readonly commandOnly: boolean;
  readonly limits: SpendingLimits;
}): TurnSettings {
  return {
    facts: {
      agent: snapshot.agent,
      model: snapshot.model,
      preset: snapshot.policy.name,
      window: snapshot.modelLimits.window,
      ...(snapshot.policy.checkAfterLastStep && { checkAfterLastStep: true }),
      ...(snapshot.policy.overflowRecoveries > 1 && { overflowRecoveries: snapshot.policy.overflowRecoveries }),
    },
    commandOnly,
    loopLimits: loopLimitsOf(snapshot),
    ...(isTimed(limits) && { isTimed: true }),
    ...(snapshot.refusal !== undefined && { refusal: snapshot.refusal }),
  };
}

function loopLimitsOf({ limits }: AgentSnapshot): LoopLimits {
  const { repeatedCalls, compactionsWithoutProgress, continuations } = { ...DEFAULT_LOOP_LIMITS, ...limits };
  return { repeatedCalls, compactionsWithoutProgress, continuations };
}

/** Continues a turn in a new run: the turn's row names the run that works on it. Reads what rang for the last run. */
export async function continueTurn(
  dependencies: ActivityDependencies,
  { turn }: OfTurn,
  { runId }: Execution,
): Promise<ContinueTurnResult> {
  await store.continueTurn(dependencies.database, { turn, runId, workerIdentity: dependencies.workerIdentity });
  const [stopRequested, known] = await Promise.all([
    isStopWaiting(dependencies.database, turn),
    store.readSnapshot(dependencies.database, turn.turnId),
  ]);
  return { stopRequested, settings: settingsOf(known) };
}

/**
 * Stores the outcome and what the window holds. Closes open tool calls with a result that says so, and shows what fills the window if
 * that was the reason. A completed turn goes on instead if steering messages wait.
 */
export async function endTurn(dependencies: ActivityDependencies, input: EndTurnInput): Promise<EndTurnResult> {
  const check = await readFitOfOpenTurn(dependencies, input);
  const isFull = check !== null && input.outcome === 'context_exhausted';
  const breakdown = isFull ? await breakdownFor(dependencies, input, check) : null;
  const contextUsage = check === null ? null : contextUsageOf(check);
  const ended = await storeEnd(
    dependencies.database,
    { ...input, breakdown, contextUsage },
    closeToolCall(dependencies),
  );
  if (ended === 'messages_waiting') return { kind: 'messages_waiting' };
  return { kind: 'ended', ...ended, explanation: explainOutcome(ended.outcome, ended.reason) };
}

/** `null` if an earlier attempt ended the turn, or if nothing was said. */
async function readFitOfOpenTurn(
  { database }: ActivityDependencies,
  { turn }: EndTurnInput,
): Promise<CountedFit | null> {
  try {
    return await readFit(database, turn);
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'stale_epoch' || error.code === 'entry_not_found')) return null;
    throw error;
  }
}

function contextUsageOf({ tokens: contextTokens, calibration, reported }: CountedFit): ContextUsage {
  if (reported === null) return { contextTokens, usageTokens: null, trailingTokens: contextTokens };
  return {
    contextTokens,
    usageTokens: reported.usage.input + reported.usage.output,
    trailingTokens: estimateTokens(reported.since, calibration),
  };
}

async function breakdownFor(
  { database }: ActivityDependencies,
  { turn }: EndTurnInput,
  { fixed, calibration, budget }: CountedFit,
): Promise<WindowBreakdown> {
  const source = await readPlanSource(database, turn);
  return breakdownWindow({ ...source, fixed, calibration, budget });
}

/** Only reads, so a look that is repeated after a crash returns the same. */
export async function lookForStop({ database }: ActivityDependencies, { turn }: OfTurn): Promise<StopLook> {
  return { stopRequested: await isStopWaiting(database, turn) };
}
