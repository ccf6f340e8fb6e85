import { textOf } from '../../context/log/content.ts';
import { estimateTokens } from '../../context/log/estimate.ts';
import { frame, framed } from '../../context/log/frames.ts';
import type { Calibration } from '../../context/plan/plan.ts';
import { budgetFor } from '../../context/policy/budget.ts';
import {
  BRANCH_SUMMARY_OUTPUT,
  branchPolicy,
  branchSummaryView,
  BRANCH_PREAMBLE,
} from '../../context/summary/branch-summary.ts';
import type { BranchItem } from '../../context/summary/branch-summary.ts';
import { checkSummary } from '../../context/summary/check-summary.ts';
import { extractiveSummary } from '../../context/summary/extractive-summary.ts';
import { renderFileLists } from '../../context/summary/summary-message.ts';
import type { FileLists } from '../../context/summary/summary-message.ts';
import type { View } from '../../context/view/view.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import { recordFailedTry } from '../../store/attempts/attempts.ts';
import { readBranchCommand } from '../../store/conversations/branch-commands.ts';
import type { BranchCommand } from '../../store/conversations/branch-commands.ts';
import * as store from '../../store/conversations/change-branch.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import { readEarlierBranchSummary, chooseLeftItems, readLeftFiles } from '../../store/conversations/left-branch.ts';
import type { LeftBranch } from '../../store/conversations/left-branch.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import type { ChangeBranchResult, OfTurn } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { SUMMARY_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import { askSummarizer } from '../compaction/summarize.ts';
import type { AskedSummary } from '../compaction/summarize.ts';
import { redactedView, redactedOriginals } from '../compaction/redaction.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { retryableFailure, throughOutage } from '../runtime/failures.ts';
import { acquirePermit } from '../runtime/model-permits.ts';
import { isConversationSpent } from './check-limits.ts';
import { newText } from '../../store/log/entries.ts';

/**
 * Makes the waiting fork or switch: summarizes the branch that is left, then changes to the other one in one transaction. It never fails
 * for lack of a summary: after five retries one is made without a model.
 */
export async function changeBranch(
  dependencies: ActivityDependencies,
  input: OfTurn,
  execution: Execution,
): Promise<ChangeBranchResult> {
  const { database } = dependencies;
  const { turn } = input;
  const read = await readBranchCommand(database, turn);
  // An attempt whose result was lost made or refused it.
  if (read.kind === 'none') {
    const reason = await store.readRefusal(database, turn);
    return reason === null ? { kind: 'changed' } : { kind: 'refused', reason };
  }
  if (read.kind === 'refused') {
    await store.refuseBranchCommand(database, turn, read);
    return { kind: 'refused', reason: read.refusal };
  }
  const { command } = read;
  const summary = await summaryFor(dependencies, command, { ...input, messageId: command.messageId, execution });
  const redacted = await redactedSummary(summary);
  const change = async (): Promise<void> => store.changeBranch(database, turn, command, redacted);
  await dependencies.outlastingWork.finish(execution, (lasting) => throughOutage(dependencies, lasting, change));
  return { kind: 'changed' };
}

/** Makes a new summary only for entries that have none yet, so going back and forth costs nothing. */
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
  /** Message of the fork or switch. */
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
  if (asked === null) return extracted(null);
  const { answer, end: call } = asked;
  const checked = checkSummary({
    policy,
    text: textOf(answer.content),
    stopReason: answer.stopReason,
    calledTool: answer.content.some((part) => part.type === 'tool_call'),
    maximumOutputTokens: maximumOutputOf(snapshot.summarizer),
  });
  if (!checked.ok) return extracted({ ...call, failure: { kind: 'retryable', evidence: checked.problem } });
  const written = {
    items,
    model: snapshot.summarizer.model,
    promptVersion,
    call,
    redacted: leftOut + request.redacted,
  };
  return branchSummaryOf(files, checked.text, written);
}

/** Registered before the model is asked, so that a call whose answer is lost with its worker counts. */
async function askForSummary(
  dependencies: ActivityDependencies,
  { turn, messageId, execution }: BranchTask,
  request: { readonly summarizer: AgentSnapshot['summarizer']; readonly view: View; readonly tokens: number },
): Promise<Extract<AskedSummary, { kind: 'answered' }> | null> {
  const { summarizer, view, tokens } = request;
  if (await isConversationSpent(dependencies, turn)) return null;
  const permit = await acquirePermit(dependencies, turn, {
    provider: parseModelName(summarizer.model).provider,
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
    const call = store.branchCallOf(turn);
    const asked = await askSummarizer(dependencies, {
      call,
      attempt,
      unreported,
      summarizer,
      tokens,
      execution,
      permit,
      countsOutages: true,
      request: { view, maximumOutput: maximumOutputOf(summarizer) },
    });
    if (asked.kind === 'answered') return asked;
    const { isFinal, evidence } = asked;
    const failure = { kind: isFinal ? 'permanent' : 'retryable', evidence } as const;
    const { failures } = await throughOutage(dependencies, execution, () =>
      recordFailedTry(dependencies.database, call, { attempt, failure }),
    );
    if (isFinal || failures > SUMMARY_RETRIES) return null;
    throw retryableFailure('BranchSummary.refused', `failed: ${evidence}`, retryDelayMilliseconds(failures));
  } finally {
    await permit.release();
  }
}

function maximumOutputOf({ limits }: AgentSnapshot['summarizer']): number {
  return Math.min(BRANCH_SUMMARY_OUTPUT, limits.maximumOutput);
}

interface Extraction {
  /** Number of secrets removed from the items. */
  readonly leftOut: number;
  readonly files: FileLists;
  readonly items: readonly BranchItem[];
  readonly snapshot: AgentSnapshot;
  readonly calibration: Calibration;
  readonly call: NewBranchSummary['call'];
}

/** Without a model. */
function extractedBranchSummary({ files, items, leftOut, snapshot, calibration, call }: Extraction): NewBranchSummary {
  const text = extractiveSummary({
    policy: branchPolicy(snapshot.policy),
    entries: items.map(({ entry }) => entry),
    previousSummary: null,
    maximumTokens: BRANCH_SUMMARY_OUTPUT,
    calibration,
  });
  return branchSummaryOf(files, text, { items, model: null, promptVersion: 'extractive', call, redacted: leftOut });
}

/** With its opening and the list of files. */
function branchSummaryOf(
  files: FileLists,
  text: string,
  rest: Pick<NewBranchSummary, 'model' | 'promptVersion' | 'call'> & {
    readonly items: readonly BranchItem[];
    readonly redacted: number;
  },
): NewBranchSummary {
  const { items, ...written } = rest;
  const listed = renderFileLists(files);
  // The text was checked, and its lists come from the program.
  const inside = framed([text, ...(listed === '' ? [] : [listed])].join('\n\n'));
  const shown = `${BRANCH_PREAMBLE}\n\n${frame('branchSummary', [inside])}`;
  return {
    ...newText(shown),
    ...written,
    files,
    entriesRead: items.length,
  };
}

/** A key that a tool printed must not come back as memory. */
async function redactedSummary(summary: NewBranchSummary | null): Promise<NewBranchSummary | null> {
  if (summary === null) return null;
  const { text, count } = await redactSecrets(textOf(summary.content));
  if (count === 0) return summary;
  return { ...summary, ...newText(text), redacted: (summary.redacted ?? 0) + count };
}

/** Items of a branch, without secrets before they are cut. */
async function redactedItems(
  items: readonly BranchItem[],
): Promise<{ readonly items: readonly BranchItem[]; readonly leftOut: number }> {
  const { entries, count } = await redactedOriginals(items.map(({ entry }) => entry));
  return { items: items.map((item, index) => ({ ...item, entry: entries[index] ?? item.entry })), leftOut: count };
}
