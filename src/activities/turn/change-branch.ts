import { BRANCH_SUMMARY_OUTPUT, branchPolicy, branchSummaryView } from '../../context/summary/branch-summary.ts';
import { budgetFor } from '../../context/policy/budget.ts';
import { checkSummary } from '../../context/summary/check-summary.ts';
import { textOf } from '../../context/log/content.ts';
import { estimateTokens } from '../../context/log/estimate.ts';
import type { View } from '../../context/view/view.ts';
import { costOf } from '../../models/catalogue/cost.ts';
import { ModelCallError } from '../../models/model-client.ts';
import type { ModelAnswer } from '../../models/model-client.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { withdrawAttempt } from '../../store/attempts/attempts.ts';
import type { AttemptEnd, Attempts } from '../../store/attempts/attempts.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import type { BranchCommand } from '../../store/conversations/branch-commands.ts';
import type { Transaction } from '../../store/database/database.ts';
import * as store from '../../store/conversations/change-branch.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import { readEarlierBranchSummary } from '../../store/conversations/earlier-branch-summary.ts';
import { chooseLeftItems, readLeftFiles } from '../../store/conversations/left-branch.ts';
import type { LeftBranch } from '../../store/conversations/left-branch.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import type { ChangeBranchResult, OfTurn } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { MOST_UNREPORTED_TRIES, SUMMARY_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import { retryableFailure, wasNotSent } from '../runtime/failures.ts';
import type { Execution } from '../runtime/activity.ts';
import { isConversationSpent } from './check-limits.ts';
import { redactedItems, redactedSummary, branchSummaryOf, extractedBranchSummary } from './branch-summary.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { redactedView } from '../compaction/redaction.ts';
import { acquirePermit, pauseAfterRefusal, waitAfterRefusal, waitForProvider } from '../runtime/model-permits.ts';
import { throughOutage } from '../runtime/outlasting-work.ts';

/**
 * Carries out the fork or switch that waits: summarizes what is left behind, then goes to the other branch in one
 * transaction. The change never fails for want of a summary: after five retries one is made without a model.
 */
export async function changeBranch(
  dependencies: ActivityDependencies,
  input: OfTurn,
  execution: Execution,
): Promise<ChangeBranchResult> {
  const { database, reachCrashPoint } = dependencies;
  const { turn } = input;
  const read = await store.readBranchCommand(database, turn);
  // Carried out, or refused, by an attempt whose result was lost.
  if (read.kind === 'none') {
    const reason = await store.readRefusal(database, turn);
    return reason === null ? { kind: 'changed' } : { kind: 'refused', reason };
  }
  if (read.kind === 'refused') {
    await store.refuseBranchCommand(database, turn, read);
    reachCrashPoint('changeBranch:refused');
    return { kind: 'refused', reason: read.refusal };
  }
  const { command } = read;
  const summary = await summaryFor(dependencies, command, { ...input, messageId: command.messageId, execution });
  reachCrashPoint('changeBranch:summarized');
  const redacted = await redactedSummary(summary);
  const change = async (): Promise<void> => store.changeBranch(database, turn, command, redacted);
  await dependencies.outlastingWork.finish(execution, (lasting) => throughOutage(dependencies, lasting, change));
  reachCrashPoint('changeBranch:written');
  return { kind: 'changed' };
}

/** A new one only where what was said on the branch has none yet: going back and forth costs nothing. */
async function summaryFor(
  dependencies: ActivityDependencies,
  command: BranchCommand,
  task: Omit<BranchTask, 'left'>,
): Promise<NewBranchSummary | null> {
  if (!command.summarizes) return null;
  const { database } = dependencies;
  const { conversationId } = task.turn;
  const earlier = await readEarlierBranchSummary(database, conversationId, command);
  if (earlier.kind === 'told') return null;
  if (earlier.kind === 'written') return earlier.summary;
  return summarizeBranch(dependencies, { ...task, left: { conversationId, command } });
}

interface BranchTask extends OfTurn {
  readonly left: LeftBranch;
  /** The fork or switch. */
  readonly messageId: string;
  readonly execution: Execution;
}

async function summarizeBranch(dependencies: ActivityDependencies, task: BranchTask): Promise<NewBranchSummary | null> {
  const { database } = dependencies;
  const { snapshot } = await readSnapshot(database, task.turn.turnId);
  const { limits } = snapshot.summarizer;
  const calibration = await readCalibration(database, { ...task.turn, ...snapshot.summarizer });
  const policy = branchPolicy(snapshot.policy);
  const room = Math.max(0, budgetFor(policy, limits).inputBudget - BRANCH_SUMMARY_OUTPUT);
  const chosen = await chooseLeftItems(database, task.left, { budget: room, calibration });
  if (chosen.length === 0) return null;
  const files = await readLeftFiles(database, task.left);
  const { items, leftOut } = await redactedItems(chosen);
  const { view, promptVersion } = branchSummaryView({ items, policy, room, calibration });
  const request = await redactedView(view);
  const tokens = items.reduce((sum, { entry }) => sum + estimateTokens(entry.measurements, calibration), 0);
  const asked = await askForSummary(dependencies, task, {
    summarizer: snapshot.summarizer,
    view: request.view,
    tokens,
  });
  const extracted = (call: NewBranchSummary['call']): NewBranchSummary =>
    extractedBranchSummary({ files, items, leftOut, snapshot, calibration, call });
  if (asked.kind === 'failed') return extracted(null);
  const { answer, call, maximumOutput } = asked;
  const checked = checkSummary({
    policy,
    text: textOf(answer.content),
    stopReason: answer.stopReason,
    calledTool: answer.content.some((part) => part.type === 'tool_call'),
    maximumOutputTokens: maximumOutput,
  });
  if (!checked.ok) return extracted({ ...call, failure: { kind: 'retryable', evidence: checked.problem } });
  const written = {
    items,
    model: snapshot.summarizer.model,
    promptVersion,
    call,
    redacted: { input: leftOut + request.redacted, output: 0 },
  };
  return branchSummaryOf(files, checked.text, written);
}

type Asked =
  | {
      readonly kind: 'answered';
      readonly answer: ModelAnswer;
      readonly call: AttemptEnd;
      readonly maximumOutput: number;
    }
  /** Of the model, or nothing is left to pay it: the summary is made without one. */
  | { readonly kind: 'failed' };

/** Registered before the model is asked, so that a call whose answer is lost with its worker is counted. */
async function askForSummary(
  dependencies: ActivityDependencies,
  { turn, messageId, execution }: BranchTask,
  request: { readonly summarizer: AgentSnapshot['summarizer']; readonly view: View; readonly tokens: number },
): Promise<Asked> {
  const { summarizer, view, tokens } = request;
  const { provider, model } = parseModelName(summarizer.model);
  if (await isConversationSpent(dependencies, turn)) return { kind: 'failed' };
  const maximumOutput = Math.min(BRANCH_SUMMARY_OUTPUT, summarizer.limits.maximumOutput);
  const permit = await acquirePermit(dependencies, turn, {
    activity: 'changeBranch',
    provider,
    callKey: `${turn.turnId}:${messageId}`,
    tokens,
    by: execution,
  });
  try {
    const { attempt, unreported } = await store.registerBranchAttempt(dependencies.database, turn, {
      by: execution,
      model: summarizer.model,
      estimatedTokens: tokens,
    });
    dependencies.reachCrashPoint('changeBranch:registered');
    const failedTry = { turn, execution, model: summarizer.model, attempt };
    // Each of them may have been paid.
    if (unreported >= MOST_UNREPORTED_TRIES) {
      await withdraw(dependencies, failedTry, { kind: 'permanent', evidence: 'tries_without_report' });
      return { kind: 'failed' };
    }
    const startedAt = performance.now();
    const fence = dependencies.fenceWatch.watch({ kind: 'branch_summary', turn, attempt });
    try {
      const answer = await dependencies.modelClient(provider).answer(
        {
          model,
          view,
          maximumOutput,
          cacheKey: turn.conversationId,
          size: { estimatedTokens: tokens, window: summarizer.limits.window },
        },
        { signal: AbortSignal.any([execution.signal, fence.signal]), onDelta: () => undefined },
      );
      await permit.release(answer.usage?.input);
      const cost = answer.usage === undefined ? null : costOf(answer.usage, summarizer.prices);
      const durationMilliseconds = Math.round(performance.now() - startedAt);
      const call = { attempt, usage: answer.usage ?? null, cost, durationMilliseconds };
      return { kind: 'answered', answer, call, maximumOutput };
    } catch (error) {
      fence.signal.throwIfAborted();
      // Awaited here: rejected while the permit is given back, it would count as unhandled and end the worker.
      return await afterModelError(dependencies, failedTry, error);
    } finally {
      fence.end();
    }
  } finally {
    await permit.release();
  }
}

interface FailedTry extends Pick<BranchTask, 'turn' | 'execution'> {
  /** `provider/model`. */
  readonly model: string;
  readonly attempt: number;
}

async function withdraw(
  dependencies: ActivityDependencies,
  { turn, execution, attempt }: FailedTry,
  failure: { readonly kind: string; readonly evidence: string },
  pause?: (open: Transaction, tries: Attempts) => Promise<void>,
): Promise<Attempts> {
  const tries = await throughOutage(dependencies, execution, () =>
    withdrawAttempt(dependencies.database, store.branchCallOf(turn), { attempt, failure }, pause),
  );
  dependencies.reachCrashPoint('changeBranch:failed');
  return tries;
}

/**
 * What the provider refused: waited out, retried five times, then done without it. A worker's death or a rate limit uses up
 * no retry; an outage does, because a change of branch never fails for want of a summary.
 */
async function afterModelError(dependencies: ActivityDependencies, tried: FailedTry, error: unknown): Promise<Asked> {
  const { turn, model } = tried;
  if (wasNotSent(error)) {
    const { failures } = await withdraw(dependencies, tried, { kind: 'retryable', evidence: 'not_sent' });
    if (failures > SUMMARY_RETRIES) return { kind: 'failed' };
    throw retryableFailure('BranchSummary.not_sent', 'call not sent', retryDelayMilliseconds(failures));
  }
  if (!(error instanceof ModelCallError)) throw error;
  const { verdict } = error;
  const { evidence } = verdict;
  if (verdict.kind !== 'retryable') {
    await withdraw(dependencies, tried, { kind: 'permanent', evidence });
    return { kind: 'failed' };
  }
  const isRateLimit = verdict.cause === 'rate_limit';
  const pause = pauseAfterRefusal(dependencies, verdict, model);
  const kind = isRateLimit ? 'rate_limited' : 'retryable';
  const { failures, refusals } = await withdraw(dependencies, tried, { kind, evidence }, (open, tries) =>
    pause(open, tries.refusals),
  );
  if (failures > SUMMARY_RETRIES) return { kind: 'failed' };
  const wait = waitAfterRefusal(verdict, isRateLimit ? refusals : failures);
  const { provider } = parseModelName(model);
  throw await waitForProvider(dependencies, turn, { ...wait, activity: 'changeBranch', provider });
}
