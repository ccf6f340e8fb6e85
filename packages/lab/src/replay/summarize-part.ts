import { setTimeout as wait } from 'node:timers/promises';
import {
  checkSummary,
  isLastPart,
  partPolicy,
  insertQuotes,
  quoteUserMessages,
  quotingSection,
} from 'holdfast/internal/context/summary/check-summary.js';
import { textOf } from 'holdfast/internal/context/log/content.js';
import type { Entry } from 'holdfast/internal/context/log/entry.js';
import { extractiveSummary } from 'holdfast/internal/context/summary/extractive-summary.js';
import { withoutFileLists } from 'holdfast/internal/context/summary/summary-message.js';
import { requestBefore } from 'holdfast/internal/context/summary/summary-request.js';
import type { CompactionPlan, CompactionReason, PlanPart } from 'holdfast/internal/context/plan/plan.js';
import type { CompactionPolicy } from 'holdfast/internal/context/policy/policy.js';
import { readableEntries } from 'holdfast/internal/context/plan/summary-sizes.js';
import { ModelCallError } from 'holdfast/internal/models/model-client.js';
import type { ModelAnswer, ReportedUsage } from 'holdfast/internal/models/model-client.js';
import { parseModelName } from 'holdfast/internal/models/catalogue/model-name.js';
import { SUMMARY_RETRIES, retryDelayMilliseconds } from 'holdfast/internal/turn/limits.js';
import { askedRequest } from './asked-request.ts';
import type { AskedRequest } from './asked-request.ts';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation } from './lab-conversation.ts';

/** One call of the summarizing model, answered or not. */
export interface SummaryCall {
  /** `null` when nothing was reported: the call was refused. */
  readonly usage: ReportedUsage | null;
  /** Code of what was wrong with it; `null` for a text that passed its checks. */
  readonly failure: string | null;
  /** Behind the agent's last request, or a request of its own. */
  readonly request: AskedRequest['kind'];
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

export interface PartToWrite {
  readonly plan: CompactionPlan;
  readonly part: PlanPart;
  /** Of earlier waves. */
  readonly before: readonly PartText[];
  readonly reason: CompactionReason;
  /** Tokens that a prompt cache has of the agent's request as it is now. */
  readonly cached: () => number;
}

/** Writes one part of a plan as the activity `summarize` does: from the originals, and checked. */
export async function summarizePart(
  agent: LabAgent,
  conversation: LabConversation,
  of: PartToWrite,
): Promise<PartText> {
  const { plan, part } = of;
  const policy = partPolicy(agent.policy, part);
  const entries = originalsOf(conversation, plan, part);
  const wish = requestOf(conversation, part, entries);
  const previous = conversation.summary === null ? null : withoutFileLists(conversation.summary.text);
  if (plan.form === 'extractive_summary' && part.kind !== 'flush') {
    const extract = extractiveSummary({
      policy,
      entries: [...wish, ...entries],
      previousSummary: previous,
      maximumTokens: part.maximumOutput,
    });
    const text = withQuotes(agent, conversation, { plan, part }, extract);
    return { kind: part.kind, text, promptVersion: 'extractive', calls: [] };
  }
  const calls: SummaryCall[] = [];
  let promptVersion = '';
  for (let failures = 0; failures <= SUMMARY_RETRIES; failures += 1) {
    const request = askedRequest(agent, conversation, { ...of, entries, request: wish, previous, failures });
    ({ promptVersion } = request);
    const tried = await tryOnce(agent, { request, part, policy });
    calls.push(tried.call);
    if (tried.text !== null) {
      if (part.kind === 'flush') return { kind: part.kind, text: tried.text, promptVersion, calls };
      const text = withQuotes(agent, conversation, { plan, part }, tried.text);
      return { kind: part.kind, text, promptVersion, calls };
    }
    if (tried.final) break;
  }
  return { kind: part.kind, text: null, promptVersion, calls };
}

function originalsOf(conversation: LabConversation, plan: CompactionPlan, part: PlanPart): Entry[] {
  const { fromSequence, toSequence } = part;
  if (fromSequence === undefined || toSequence === undefined) return [];
  const entries = conversation.withContent(conversation.entries.slice(fromSequence - 1, toSequence));
  return part.kind === 'flush' ? entries : [...readableEntries(plan, entries)];
}

/** More never fit. */
const MOST_REQUESTS = 20;

/** As the activity `summarize` reads what the user asked before a part. */
function requestOf(conversation: LabConversation, { fromSequence }: PlanPart, entries: readonly Entry[]): Entry[] {
  if (fromSequence === undefined) return [];
  const before = conversation.entries.slice(0, fromSequence - 1).filter((entry) => entry.kind === 'user');
  return requestBefore(entries, conversation.withContent(before.slice(-MOST_REQUESTS).toReversed()));
}

/** The user's messages are quoted once, in the text that the others lead to, where the policy quotes them. */
function withQuotes(
  { policy }: LabAgent,
  conversation: LabConversation,
  { plan, part }: { readonly plan: CompactionPlan; readonly part: PlanPart },
  text: string,
): string {
  if (!isLastPart(plan.parts, part) || quotingSection(policy) === undefined) return text;
  const covered = conversation.entries.slice(0, plan.coveredThroughSequence ?? 0);
  const messages = conversation.withContent(covered.filter((entry) => entry.kind === 'user'));
  return insertQuotes(policy, text, quoteUserMessages(messages, plan.quotedLimit ?? 0));
}

async function tryOnce(
  { summarizer }: LabAgent,
  of: { readonly request: AskedRequest; readonly part: PlanPart; readonly policy: CompactionPolicy },
): Promise<{ readonly text: string | null; readonly call: SummaryCall; readonly final: boolean }> {
  const { request: asked, part, policy } = of;
  const request = asked.kind;
  let answer: ModelAnswer;
  try {
    answer = await answerAfterOutages(summarizer, asked.view, part);
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error;
    const failure = `${error.verdict.kind}${error.status === undefined ? '' : `_${error.status}`}`;
    // What is refused behind the last request may be accepted with a transcript.
    const final = request === 'transcript' && error.verdict.kind !== 'retryable';
    return { text: null, call: { usage: null, failure, request }, final };
  }
  const checked = checkSummary({
    policy,
    kind: part.kind,
    text: textOf(answer.content),
    stopReason: answer.stopReason,
    calledTool: answer.content.some((piece) => piece.type === 'tool_call'),
    maximumOutputTokens: part.maximumOutput,
  });
  const usage = usageOf(answer, asked, summarizer);
  if (!checked.ok) return { text: null, call: { usage, failure: checked.problem, request }, final: false };
  return { text: checked.text, call: { usage, failure: null, request }, final: false };
}

/** Nobody made the agent's last request, so what the cache would have of it is reckoned; a transcript is in no cache. */
function usageOf(
  { usage }: ModelAnswer,
  { kind, cached }: AskedRequest,
  { prices }: LabAgent['summarizer'],
): ReportedUsage | null {
  if (usage === undefined) return null;
  if (kind === 'transcript') return { ...usage, cacheRead: 0, cacheWrite: 0 };
  const cacheRead = prices.cacheRead === null ? 0 : Math.min(cached, usage.input);
  return { ...usage, cacheRead, cacheWrite: usage.input - cacheRead };
}

async function answerAfterOutages(
  { client, model }: LabAgent['summarizer'],
  view: AskedRequest['view'],
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
