import { setTimeout as wait } from 'node:timers/promises';
import { checkSummary } from '../../context/check-summary.ts';
import { textOf } from '../../context/content.ts';
import type { Entry } from '../../context/entry.ts';
import { NO_CALIBRATION } from '../../context/estimate.ts';
import { extractiveSummary } from '../../context/extractive-summary.ts';
import { withoutFileLists } from '../../context/file-lists.ts';
import { appendMissing, missingFromSummary } from '../../context/must-keep.ts';
import type { CompactionPlan, PlanPart } from '../../context/plan.ts';
import { summaryView } from '../../context/summary-request.ts';
import { ModelCallError } from '../../models/model-client.ts';
import type { ModelAnswer, ReportedUsage } from '../../models/model-client.ts';
import { parseModelName } from '../../models/model-name.ts';
import { SUMMARY_RETRIES, retryDelayMilliseconds } from '../../turn/limits.ts';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation } from './lab-conversation.ts';

/** One call of the summarizing model, answered or not. */
export interface SummaryCall {
  /** `null` when nothing was reported: the call was refused. */
  readonly usage: ReportedUsage | null;
  /** Code of what was wrong with it; `null` for a text that passed its checks. */
  readonly failure: string | null;
}

export interface PartText {
  readonly kind: PlanPart['kind'];
  /** `null`: no text that could stand; a weaker form follows. */
  readonly text: string | null;
  readonly promptVersion: string;
  readonly calls: readonly SummaryCall[];
}

/** Retries of a provider that cannot be reached, before the replay gives up on the part. */
const OUTAGE_RETRIES = 5;

/** Writes one part of a plan as the activity `summarize` does: from the originals, checked, with what must not be lost appended. */
export async function summarizePart(
  agent: LabAgent,
  conversation: LabConversation,
  of: { readonly plan: CompactionPlan; readonly part: PlanPart; readonly before: readonly PartText[] },
): Promise<PartText> {
  const { plan, part, before } = of;
  const entries = originalsOf(conversation, part);
  const previous = conversation.summary === null ? null : withoutFileLists(conversation.summary.text);
  if (plan.form === 'extractive_summary') {
    const text = extractiveSummary({
      policy: agent.policy,
      entries,
      previousSummary: previous,
      maximumTokens: part.maximumOutput,
    });
    return { kind: part.kind, text, promptVersion: 'extractive', calls: [] };
  }
  const request = summaryView({
    policy: agent.policy,
    parts: plan.parts,
    part,
    entries,
    previousSummary: previous,
    partTexts: part.kind === 'merge' ? before.map(({ kind, text }) => ({ kind, text: text ?? '' })) : [],
    focus: null,
    agent: agent.view,
    turnIsOpen: plan.insideTurn,
    summarizer: agent.summarizer.limits,
    calibration: NO_CALIBRATION,
    shorter: plan.form === 'shorter_summary',
  });
  const calls: SummaryCall[] = [];
  for (let failures = 0; failures <= SUMMARY_RETRIES; failures += 1) {
    const tried = await tryOnce(agent, request.view, part);
    calls.push(tried.call);
    if (tried.text !== null) {
      const earlierTexts = [previous ?? '', ...(part.kind === 'merge' ? before.map(({ text }) => text ?? '') : [])];
      const missing = missingFromSummary({ text: tried.text, entries, earlierTexts });
      const text = appendMissing(tried.text, missing, plan.summaryLimit);
      return { kind: part.kind, text, promptVersion: request.promptVersion, calls };
    }
    if (tried.final) break;
  }
  return { kind: part.kind, text: null, promptVersion: request.promptVersion, calls };
}

function originalsOf(conversation: LabConversation, part: PlanPart): Entry[] {
  const { fromSequence, toSequence } = part;
  if (fromSequence === undefined || toSequence === undefined) return [];
  return conversation.withContent(conversation.entries.slice(fromSequence - 1, toSequence));
}

type View = ReturnType<typeof summaryView>['view'];

async function tryOnce(
  { summarizer, policy }: LabAgent,
  view: View,
  part: PlanPart,
): Promise<{ readonly text: string | null; readonly call: SummaryCall; readonly final: boolean }> {
  let answer: ModelAnswer;
  try {
    answer = await answerAfterOutages(summarizer, view, part);
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error;
    const failure = `${error.verdict.kind}${error.status === undefined ? '' : `_${error.status}`}`;
    return { text: null, call: { usage: null, failure }, final: error.verdict.kind !== 'retryable' };
  }
  const checked = checkSummary({
    policy,
    kind: part.kind,
    text: textOf(answer.content),
    stopReason: answer.stopReason,
    calledTool: answer.content.some((piece) => piece.type === 'tool_call'),
    maximumOutputTokens: part.maximumOutput,
  });
  const usage = answer.usage ?? null;
  if (!checked.ok) return { text: null, call: { usage, failure: checked.problem }, final: false };
  return { text: checked.text, call: { usage, failure: null }, final: false };
}

async function answerAfterOutages(
  { client, model }: LabAgent['summarizer'],
  view: View,
  part: PlanPart,
): Promise<ModelAnswer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.answer(
        { model: parseModelName(model).model, view, maximumOutput: part.maximumOutput, cacheKey: 'holdfast-lab' },
        { signal: new AbortController().signal, onDelta: () => undefined },
      );
    } catch (error) {
      if (!(error instanceof ModelCallError) || error.verdict.kind !== 'retryable' || tries > OUTAGE_RETRIES)
        throw error;
      await wait(error.verdict.delayMilliseconds ?? retryDelayMilliseconds(tries));
    }
  }
}
