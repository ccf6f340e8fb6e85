import {
  BRANCH_PREAMBLE,
  BRANCH_SUMMARY_OUTPUT,
  branchPolicy,
  branchSummaryView,
  chooseBranchItems,
} from '../context/branch-summary.ts';
import type { BranchItem } from '../context/branch-summary.ts';
import { budgetFor } from '../context/budget.ts';
import { checkSummary } from '../context/check-summary.ts';
import { textOf } from '../context/content.ts';
import { extractiveSummary } from '../context/extractive-summary.ts';
import { renderFileLists } from '../context/file-lists.ts';
import type { Calibration } from '../context/plan.ts';
import { costOf } from '../models/cost.ts';
import { ModelCallError } from '../models/model-client.ts';
import { parseModelName } from '../models/model-name.ts';
import { readCalibration } from '../store/calibrations.ts';
import * as store from '../store/change-branch.ts';
import type { LeftBranch, NewBranchSummary } from '../store/change-branch.ts';
import { readSnapshot } from '../store/turns.ts';
import { redactSecrets } from '../tools/redact-secrets.ts';
import type { ChangeBranchInput, ChangeBranchResult } from '../turn/activity-values.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import { LONGEST_RETRY_DELAY_MILLISECONDS, SUMMARY_RETRIES, retryDelayMilliseconds } from '../turn/limits.ts';
import { retryableFailure } from './activity-error.ts';
import type { Execution } from './activity-shell.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { recordWait } from './model-failure.ts';
import { newText } from './new-content.ts';

/**
 * Carries out the fork or switch that waits: summarizes what is left behind, then goes to the other branch in one
 * transaction. The change never fails for want of a summary: after five retries one is made without a model.
 */
export async function changeBranch(
  dependencies: ActivityDependencies,
  { turn }: ChangeBranchInput,
  execution: Execution,
): Promise<ChangeBranchResult> {
  const { database, reachCrashPoint } = dependencies;
  const read = await store.readBranchCommand(database, turn);
  // Carried out by an attempt whose result was lost.
  if (read.kind === 'none') return { kind: 'changed' };
  if (read.kind === 'refused') {
    await store.refuseBranchCommand(database, turn, read);
    reachCrashPoint('changeBranch:refused');
    return { kind: 'refused', reason: read.refusal };
  }
  const { command } = read;
  const left = command.summarizes ? await store.readLeftBranch(database, turn.conversationId, command) : null;
  const written = left === null ? null : await summarizeBranch(dependencies, { turn, left, execution });
  if (written?.kind === 'wait') return written;
  reachCrashPoint('changeBranch:summarized');
  await store.changeBranch(database, turn, command, await withoutSecrets(written?.summary ?? null));
  reachCrashPoint('changeBranch:written');
  return { kind: 'changed' };
}

/** What a tool printed of a key must not come back as memory. */
async function withoutSecrets(summary: NewBranchSummary | null): Promise<NewBranchSummary | null> {
  if (summary === null) return null;
  const { text, count } = await redactSecrets(textOf(summary.content));
  return count === 0 ? summary : { ...summary, ...newText(text) };
}

interface BranchTask extends ChangeBranchInput {
  readonly left: LeftBranch;
  readonly execution: Execution;
}

type Written =
  | { readonly kind: 'written'; readonly summary: NewBranchSummary | null }
  | { readonly kind: 'wait'; readonly delayMilliseconds: number };

async function summarizeBranch(dependencies: ActivityDependencies, task: BranchTask): Promise<Written> {
  const { database } = dependencies;
  const { snapshot } = await readSnapshot(database, task.turn.turnId);
  const { model: name, limits } = snapshot.summarizer;
  const calibration = await readCalibration(database, name);
  const policy = branchPolicy(snapshot.policy);
  const room = Math.max(0, budgetFor(policy, limits).inputBudget - BRANCH_SUMMARY_OUTPUT);
  const items = chooseBranchItems(task.left.items, { budget: room, calibration });
  if (items.length === 0) return { kind: 'written', summary: null };
  const request = branchSummaryView({ items, policy, room, calibration });
  const { provider, model } = parseModelName(name);
  const maximumOutput = Math.min(BRANCH_SUMMARY_OUTPUT, limits.maximumOutput);
  try {
    const answer = await dependencies
      .modelClient(provider)
      .answer(
        { model, view: request.view, maximumOutput, cacheKey: task.turn.conversationId },
        { signal: task.execution.signal, onDelta: () => undefined },
      );
    const cost = answer.usage === undefined ? null : costOf(answer.usage, snapshot.summarizer.prices);
    const checked = checkSummary({
      policy,
      text: textOf(answer.content),
      stopReason: answer.stopReason,
      calledTool: answer.content.some((part) => part.type === 'tool_call'),
      maximumOutputTokens: maximumOutput,
    });
    const calls = [{ usage: answer.usage ?? null, cost }];
    if (!checked.ok) return { kind: 'written', summary: extracted({ task, items, snapshot, calibration, calls }) };
    const { promptVersion } = request;
    return {
      kind: 'written',
      summary: summaryOf(task.left, checked.text, { items, model: name, promptVersion, calls }),
    };
  } catch (error) {
    return afterModelError(dependencies, task, error, () =>
      extracted({ task, items, snapshot, calibration, calls: [] }),
    );
  }
}

interface Extraction {
  readonly task: BranchTask;
  readonly items: readonly BranchItem[];
  readonly snapshot: AgentSnapshot;
  readonly calibration: Calibration;
  readonly calls: NewBranchSummary['calls'];
}

/** Without a model. */
function extracted({ task, items, snapshot, calibration, calls }: Extraction): NewBranchSummary {
  const text = extractiveSummary({
    policy: branchPolicy(snapshot.policy),
    entries: items.map(({ entry }) => entry),
    previousSummary: null,
    maximumTokens: BRANCH_SUMMARY_OUTPUT,
    calibration,
  });
  return summaryOf(task.left, text, { items, model: null, promptVersion: 'extractive', calls });
}

function summaryOf(
  left: LeftBranch,
  text: string,
  rest: Pick<NewBranchSummary, 'model' | 'promptVersion' | 'calls'> & { readonly items: readonly BranchItem[] },
): NewBranchSummary {
  const { items, ...written } = rest;
  const files = renderFileLists(left.files);
  const shown = [BRANCH_PREAMBLE, text, ...(files === '' ? [] : [files])].join('\n\n');
  return { ...newText(shown), ...written, files: left.files, entriesRead: items.length };
}

/** What the provider refused: waited out, retried five times, then done without it. */
async function afterModelError(
  dependencies: ActivityDependencies,
  task: BranchTask,
  error: unknown,
  extract: () => NewBranchSummary,
): Promise<Written> {
  if (!(error instanceof ModelCallError)) throw error;
  const { verdict } = error;
  const { attempt } = task.execution;
  if (verdict.kind !== 'retryable' || (verdict.cause === 'outage' && attempt > SUMMARY_RETRIES)) {
    return { kind: 'written', summary: extract() };
  }
  const delay = verdict.delayMilliseconds ?? retryDelayMilliseconds(Math.min(attempt, 5));
  if (delay > LONGEST_RETRY_DELAY_MILLISECONDS) {
    await recordWait(dependencies, task.turn, delay);
    dependencies.reachCrashPoint('changeBranch:waiting');
    return { kind: 'wait', delayMilliseconds: delay };
  }
  throw retryableFailure(`BranchSummary.${verdict.cause}`, `summarizing model not available (${verdict.cause})`, delay);
}
