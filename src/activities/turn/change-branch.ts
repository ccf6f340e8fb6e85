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
import type { AttemptEnd } from '../../store/attempts/attempts.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import type { BranchCommand } from '../../store/conversations/branch-commands.ts';
import type { Transaction } from '../../store/database/database.ts';
import * as store from '../../store/conversations/change-branch.ts';
import { outageWaitLeft } from '../../store/providers/outage-wait.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import { readEarlierBranchSummary } from '../../store/conversations/earlier-branch-summary.ts';
import { chooseLeftItems, readLeftFiles } from '../../store/conversations/left-branch.ts';
import type { LeftBranch } from '../../store/conversations/left-branch.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import type { ChangeBranchInput, ChangeBranchResult } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { MOST_UNREPORTED_TRIES, SUMMARY_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import { retryableFailure } from '../runtime/activity-error.ts';
import type { Execution } from '../runtime/activity-shell.ts';
import { isConversationSpent } from './check-limits.ts';
import { redactedItems, redactedSummary } from './branch-secrets.ts';
import { branchSummaryOf, extractedBranchSummary } from './branch-summary-of.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { passGate } from '../runtime/pass-gate.ts';
import { redactedView } from '../compaction/redacted-view.ts';
import {
  pauseAfterRefusal,
  recordShortWait,
  uncountedFailure,
  waitAfterRefusal,
  waitOut,
} from '../runtime/refusal-wait.ts';
import { throughOutage } from '../runtime/through-outage.ts';
import { wasNotSent } from '../runtime/unreported-try.ts';

/**
 * Carries out the fork or switch that waits: summarizes what is left behind, then goes to the other branch in one
 * transaction. The change never fails for want of a summary: after five retries one is made without a model.
 */
export async function changeBranch(
  dependencies: ActivityDependencies,
  input: ChangeBranchInput,
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
  const written = await summaryFor(dependencies, command, { ...input, messageId: command.messageId, execution });
  if (written.kind === 'wait') return written;
  reachCrashPoint('changeBranch:summarized');
  // The branch is read once more for it: an outage there must not throw a paid summary away either.
  const change = async (): Promise<void> => {
    const summary = await redactedSummary(database, written.summary, written.left);
    await store.changeBranch(database, turn, command, summary);
  };
  await dependencies.outlastingWork.finish(execution, (lasting) => throughOutage(dependencies, lasting, change));
  reachCrashPoint('changeBranch:written');
  return { kind: 'changed' };
}

/** A new one only where what was said on the branch has none yet: going back and forth costs nothing. */
async function summaryFor(
  dependencies: ActivityDependencies,
  command: BranchCommand,
  task: Omit<BranchTask, 'left'>,
): Promise<Written> {
  if (!command.summarizes) return { kind: 'written', summary: null };
  const { database } = dependencies;
  const { conversationId } = task.turn;
  const earlier = await readEarlierBranchSummary(database, conversationId, command);
  if (earlier.kind === 'told') return { kind: 'written', summary: null };
  if (earlier.kind === 'written') return earlier;
  const left = { conversationId, command };
  const written = await summarizeBranch(dependencies, { ...task, left });
  return written.kind === 'written' ? { ...written, left } : written;
}

interface BranchTask extends ChangeBranchInput {
  readonly left: LeftBranch;
  /** The fork or switch. */
  readonly messageId: string;
  readonly execution: Execution;
}

interface WrittenSummary {
  readonly kind: 'written';
  readonly summary: NewBranchSummary | null;
  /** What it was made from, when it is new. */
  readonly left?: LeftBranch;
}

type Written = WrittenSummary | { readonly kind: 'wait'; readonly delayMilliseconds: number };

async function summarizeBranch(dependencies: ActivityDependencies, task: BranchTask): Promise<Written> {
  const { database } = dependencies;
  const { snapshot } = await readSnapshot(database, task.turn.turnId);
  const { limits } = snapshot.summarizer;
  const calibration = await readCalibration(database, { ...task.turn, ...snapshot.summarizer });
  const policy = branchPolicy(snapshot.policy);
  const room = Math.max(0, budgetFor(policy, limits).inputBudget - BRANCH_SUMMARY_OUTPUT);
  const chosen = await chooseLeftItems(database, task.left, { budget: room, calibration });
  if (chosen.length === 0) return { kind: 'written', summary: null };
  const files = await readLeftFiles(database, task.left);
  const { items, leftOut } = await redactedItems(database, chosen, task.left);
  const { view, promptVersion } = branchSummaryView({ items, policy, room, calibration });
  const request = await redactedView(view);
  const tokens = items.reduce((sum, { entry }) => sum + estimateTokens(entry.measurements, calibration), 0);
  const asked = await askForSummary(dependencies, task, {
    summarizer: snapshot.summarizer,
    view: request.view,
    tokens,
  });
  if (asked.kind === 'wait') return asked;
  if (asked.kind === 'failed') {
    return {
      kind: 'written',
      summary: extractedBranchSummary({ files, items, leftOut, snapshot, calibration, call: null }),
    };
  }
  const { answer, call, maximumOutput } = asked;
  const checked = checkSummary({
    policy,
    text: textOf(answer.content),
    stopReason: answer.stopReason,
    calledTool: answer.content.some((part) => part.type === 'tool_call'),
    maximumOutputTokens: maximumOutput,
  });
  if (!checked.ok) {
    const refused = { ...call, failure: { kind: 'retryable', evidence: checked.problem } };
    return {
      kind: 'written',
      summary: extractedBranchSummary({ files, items, leftOut, snapshot, calibration, call: refused }),
    };
  }
  const written = {
    items,
    model: snapshot.summarizer.model,
    promptVersion,
    call,
    redacted: { input: leftOut + request.redacted, output: 0 },
  };
  return { kind: 'written', summary: branchSummaryOf(files, checked.text, written) };
}

type Asked =
  | {
      readonly kind: 'answered';
      readonly answer: ModelAnswer;
      readonly call: AttemptEnd;
      readonly maximumOutput: number;
    }
  /** Of the model, or nothing is left to pay it: the summary is made without one. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'wait'; readonly delayMilliseconds: number };

/** Registered before the model is asked, so that a call whose answer is lost with its worker is counted. */
async function askForSummary(
  dependencies: ActivityDependencies,
  { turn, messageId, limits, execution }: BranchTask,
  request: { readonly summarizer: AgentSnapshot['summarizer']; readonly view: View; readonly tokens: number },
): Promise<Asked> {
  const { summarizer, view, tokens } = request;
  const { provider, model } = parseModelName(summarizer.model);
  if (await isConversationSpent(dependencies, turn, limits)) return { kind: 'failed' };
  const maximumOutput = Math.min(BRANCH_SUMMARY_OUTPUT, summarizer.limits.maximumOutput);
  const pass = await passGate(dependencies, turn, {
    activity: 'changeBranch',
    provider,
    callKey: `${turn.turnId}:${messageId}`,
    tokens,
    by: execution,
    signal: execution.signal,
  });
  if (pass.kind === 'wait') return pass;
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
      await pass.leave(answer.usage?.input);
      const cost = answer.usage === undefined ? null : costOf(answer.usage, summarizer.prices);
      const durationMilliseconds = Math.round(performance.now() - startedAt);
      const call = { attempt, usage: answer.usage ?? null, cost, durationMilliseconds };
      return { kind: 'answered', answer, call, maximumOutput };
    } catch (error) {
      fence.signal.throwIfAborted();
      // Awaited here: rejected while the place is given back, it would count as unhandled and end the worker.
      return await afterModelError(dependencies, failedTry, error);
    } finally {
      fence.end();
    }
  } finally {
    await pass.leave();
  }
}

interface FailedTry extends Pick<BranchTask, 'turn' | 'execution'> {
  /** `provider/model`. */
  readonly model: string;
  readonly attempt: number;
}

/** @returns failures of the model so far */
async function withdraw(
  dependencies: ActivityDependencies,
  { turn, execution, attempt }: FailedTry,
  failure: { readonly kind: string; readonly evidence: string },
  pause?: (open: Transaction) => Promise<void>,
): Promise<number> {
  const failures = await throughOutage(dependencies, execution, () =>
    withdrawAttempt(dependencies.database, store.branchCallOf(turn), { attempt, failure }, pause),
  );
  dependencies.reachCrashPoint('changeBranch:failed');
  return failures;
}

/**
 * What the provider refused: waited out, retried five times, then done without it. Only failures of the model count: a
 * worker's death, a rate limit or a lost connection uses up no retry.
 */
async function afterModelError(dependencies: ActivityDependencies, tried: FailedTry, error: unknown): Promise<Asked> {
  const { turn, execution, model } = tried;
  if (wasNotSent(error)) {
    const failures = await withdraw(dependencies, tried, { kind: 'retryable', evidence: 'not_sent' });
    if (failures > SUMMARY_RETRIES) return { kind: 'failed' };
    throw retryableFailure('BranchSummary.not_sent', 'call not sent', retryDelayMilliseconds(failures));
  }
  if (!(error instanceof ModelCallError)) throw error;
  const { verdict } = error;
  const { evidence } = verdict;
  const isOut = verdict.kind === 'retryable' && verdict.cause === 'outage';
  // Looked at before its time: nothing is known that the failure which named the time did not tell.
  const left = isOut ? await outageWaitLeft(dependencies.database, turn) : 0;
  const failed = isOut && left === 0;
  if (verdict.kind !== 'retryable') {
    await withdraw(dependencies, tried, { kind: 'permanent', evidence });
    return { kind: 'failed' };
  }
  const pause = pauseAfterRefusal(dependencies, verdict, model);
  const kind = failed ? 'retryable' : uncountedFailure(verdict);
  const failures = await withdraw(dependencies, tried, { kind, evidence }, (open) => pause(open, execution.attempt));
  if (failures > SUMMARY_RETRIES) return { kind: 'failed' };
  const times = failed ? failures : execution.attempt;
  const wait = waitAfterRefusal(verdict, { activity: 'changeBranch', model, times });
  if (left > 0) return waitOut(dependencies, turn, { ...wait, delayMilliseconds: left });
  if (wait.isWaitedOut) return waitOut(dependencies, turn, wait);
  await recordShortWait(dependencies, turn, wait);
  const message = `summarizing model not available (${verdict.cause})`;
  throw retryableFailure(`BranchSummary.${verdict.cause}`, message, wait.delayMilliseconds);
}
