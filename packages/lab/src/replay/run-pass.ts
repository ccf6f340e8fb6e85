import { continuationContent, continuationWords } from 'holdfast/internal/context/view/notes.js';
import { countRequest, mayGoOn, passReason } from 'holdfast/internal/context/view/count-request.js';
import { estimateTokens } from 'holdfast/internal/context/log/estimate.js';
import {
  extendFileLists,
  callSubject,
  extendLedger,
  shortSubject,
} from 'holdfast/internal/context/summary/summary-message.js';
import type { SummaryLedger } from 'holdfast/internal/context/summary/summary-message.js';
import { judgeCompaction, planCompaction, weakerForm } from 'holdfast/internal/context/plan/plan-compaction.js';
import { addMeasurements } from 'holdfast/internal/context/log/measurements.js';
import type {
  Calibration,
  CompactionForm,
  CompactionPlan,
  CompactionReason,
  PlanPart,
  PlanResult,
} from 'holdfast/internal/context/plan/plan.js';
import type { CompactionPolicy } from 'holdfast/internal/context/policy/policy.js';
import { finishedView, wholeSummary } from 'holdfast/internal/context/summary/whole-summary.js';
import { RECALL_OPEN, RECALL_SEARCH } from 'holdfast/internal/tools/runtime/names.js';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation, NewLabSummary } from './lab-conversation.ts';
import { summarizePart } from './summarize-part.ts';
import type { PartText, SummaryCall } from './summarize-part.ts';

/** A pass that was committed. */
export interface LabPass {
  readonly reason: CompactionReason;
  readonly form: CompactionForm;
  /** Forms that were tried before it, each with the code of why it did not count. */
  readonly failedForms: readonly { readonly form: CompactionForm; readonly failure: string }[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly parts: number;
  readonly calls: readonly SummaryCall[];
  readonly operations: Readonly<Record<'clip' | 'clear' | 'strip', number>>;
  /** First entry kept verbatim; `null` when the cut stayed. */
  readonly firstKeptSequence: number | null;
}

export type FitResult =
  | {
      readonly kind: 'fits';
      readonly tokens: number;
      readonly pass: LabPass | null;
      readonly calls: readonly SummaryCall[];
    }
  /** No form makes the view fit: a turn would end here. */
  | { readonly kind: 'exhausted'; readonly tokens: number; readonly calls: readonly SummaryCall[] };

/**
 * What `fitContext` of the workflow does before a model call and, for some presets, after the last
 * one, with the decisions of the activities `compactContext`, `summarize` and `commitCompaction`:
 * fits, or a pass in ever weaker forms.
 *
 * @param cached tokens that a prompt cache has of the request as it is now
 */
export async function fitContext(
  agent: LabAgent,
  conversation: LabConversation,
  wish: FitWish,
  cached: () => number,
): Promise<FitResult> {
  const { budget, policy, fixed } = agent;
  const { turnId, forced, turnIsOver } = wish;
  const calibration = conversation.calibration(fixed);
  const request = addMeasurements(conversation.view, fixed);
  const tokens = estimateTokens(request, calibration);
  const counted = countRequest({ policy, budget, request, calibration, reported: conversation.reported });
  const reason = passReason({ forced, turnIsOver, policy, counted });
  if (reason === null) return { kind: 'fits', tokens, pass: null, calls: [] };
  const plan = (form?: CompactionForm): PlanResult =>
    planCompaction({
      policy,
      budget,
      calibration,
      summarizer: agent.summarizer.limits,
      ...conversation.measuredView(fixed),
      turnId,
      reason,
      counted,
      turnIsOver,
      recall: hasRecall(agent),
      ...(form !== undefined && { form }),
    });
  const planned = plan();
  if (planned.kind === 'planned') {
    const first = conversation.open(planned.plan, turnId);
    return runForms(agent, conversation, { turnId, reason, calibration, first, plan, cached });
  }
  if (planned.kind === 'fits' || turnIsOver || mayGoOn(reason, tokens, budget)) {
    return { kind: 'fits', tokens, pass: null, calls: [] };
  }
  return { kind: 'exhausted', tokens, calls: [] };
}

function hasRecall({ view }: LabAgent): boolean {
  return view.tools.some((tool) => tool.name === RECALL_OPEN);
}

interface FitWish {
  readonly turnId: string;
  readonly forced: 'overflow' | null;
  readonly turnIsOver: boolean;
}

function tokensNow({ fixed }: LabAgent, conversation: LabConversation): number {
  return estimateTokens(addMeasurements(conversation.view, fixed), conversation.calibration(fixed));
}

interface FormsToRun {
  readonly turnId: string;
  readonly reason: CompactionReason;
  readonly calibration: Calibration;
  readonly first: CompactionPlan;
  readonly plan: (form: CompactionForm) => PlanResult;
  readonly cached: () => number;
}

async function runForms(agent: LabAgent, conversation: LabConversation, run: FormsToRun): Promise<FitResult> {
  const calls: SummaryCall[] = [];
  const failedForms: { form: CompactionForm; failure: string }[] = [];
  const tokensBefore = run.first.tokensBefore;
  for (let plan: CompactionPlan | null = run.first; plan !== null; plan = nextPlan(run, plan.form)) {
    const written = await writeParts(agent, conversation, { run, plan });
    calls.push(...written.flatMap((part) => part.calls));
    // A flush to memory comes beside the summary: without it the pass goes on.
    const readable = written.filter((part) => part.kind !== 'flush');
    const failure = readable.some(({ text }) => text === null) ? 'summary_failed' : null;
    const finished = finish(agent, conversation, { run, plan, parts: readable });
    const lastForm = weakerForm(plan.form) === null;
    const { tokensAfter } = finished;
    const verdict = failure ?? judgeCompaction({ plan, budget: agent.budget, tokensBefore, tokensAfter, lastForm });
    if (verdict === 'accepted') {
      const { summary } = finished;
      const pass = commit(agent, conversation, { run, plan, summary, calls, failedForms, tokensBefore });
      return { kind: 'fits', tokens: tokensNow(agent, conversation), pass, calls };
    }
    failedForms.push({ form: plan.form, failure: verdict });
  }
  return mayGoOn(run.reason, tokensBefore, agent.budget)
    ? { kind: 'fits', tokens: tokensBefore, pass: null, calls }
    : { kind: 'exhausted', tokens: tokensBefore, calls };
}

function nextPlan(run: FormsToRun, failed: CompactionForm): CompactionPlan | null {
  for (let form = weakerForm(failed); form !== null; form = weakerForm(form)) {
    const result = run.plan(form);
    if (result.kind === 'planned') return result.plan;
  }
  return null;
}

/** Wave by wave; after a part that failed for good the rest is not worth its price. */
async function writeParts(
  agent: LabAgent,
  conversation: LabConversation,
  { run: { reason, cached }, plan }: { readonly run: FormsToRun; readonly plan: CompactionPlan },
): Promise<PartText[]> {
  const written: PartText[] = [];
  const waves = [...new Set(plan.parts.map((part) => part.wave))].sort((left, right) => left - right);
  for (const wave of waves) {
    const before = [...written];
    const ofWave = plan.parts.filter((part: PlanPart) => part.wave === wave);
    const of = { plan, before, reason, cached };
    const texts = await Promise.all(ofWave.map((part) => summarizePart(agent, conversation, { ...of, part })));
    written.push(...texts);
    if (texts.some(({ text, kind }) => text === null && kind !== 'flush')) return written;
  }
  return written;
}

const NO_FILES: SummaryLedger = { read: [], modified: [] };

/** What the worker's `finishCompaction` does, with files and the previous summary from the replay. */
function finish(
  agent: LabAgent,
  conversation: LabConversation,
  {
    run,
    plan,
    parts,
  }: { readonly run: FormsToRun; readonly plan: CompactionPlan; readonly parts: readonly PartText[] },
): { readonly summary: NewLabSummary | null; readonly tokensAfter: number } {
  const { policy, budget, fixed } = agent;
  const files = parts.length === 0 ? NO_FILES : keepLedger(policy, conversation, plan);
  const texts = parts.map(({ kind, text }) => ({ kind, text: text ?? '' }));
  const previousText = conversation.summary?.text ?? null;
  const recall = hasRecall(agent);
  const whole = wholeSummary({ parts: texts, previousText, files, policy, budget, plan, recall });
  const before = conversation.measuredView(fixed);
  const { calibration } = run;
  const finished = finishedView(whole, { before, plan, compactionId: 'next', policy, budget, calibration });
  const { summary, tokensAfter } = finished;
  return { summary: summary === null ? null : { ...summary, files }, tokensAfter };
}

/** What the worker's `keepLedger` does: files and results after a pass. */
function keepLedger({ summary }: CompactionPolicy, conversation: LabConversation, plan: CompactionPlan): SummaryLedger {
  const earlier = conversation.summary?.files ?? NO_FILES;
  const fromSequence = plan.parts.find((part) => part.fromSequence !== undefined)?.fromSequence;
  const { coveredThroughSequence } = plan;
  if (coveredThroughSequence === null || fromSequence === undefined) return earlier;
  const left = conversation.finishedCalls(fromSequence, coveredThroughSequence);
  const files =
    summary.fileLists === null ? earlier : extendFileLists({ earlier, calls: left, tools: summary.fileLists });
  const results = left.flatMap(({ name, arguments: written, result }) =>
    result === null || name === RECALL_OPEN || name === RECALL_SEARCH
      ? []
      : [{ ...result, tool: name, target: shortSubject(callSubject(written)) }],
  );
  return { ...files, results: extendLedger(earlier.results ?? [], results) };
}

interface FinishedForm {
  readonly run: FormsToRun;
  readonly plan: CompactionPlan;
  readonly summary: NewLabSummary | null;
  readonly tokensBefore: number;
}

function commit(
  agent: LabAgent,
  conversation: LabConversation,
  of: FinishedForm & {
    readonly calls: readonly SummaryCall[];
    readonly failedForms: LabPass['failedForms'];
  },
): LabPass {
  const { run, plan, summary, calls, failedForms, tokensBefore } = of;
  const recall = hasRecall(agent);
  conversation.commit(plan, {
    compactionId: conversation.newCompactionId(),
    summary,
    fixed: agent.fixed,
    turnId: run.turnId,
    continuation: plan.continuation
      ? continuationContent(continuationWords(agent.policy, plan.form), { recall })
      : null,
  });
  const count = (kind: 'clip' | 'clear' | 'strip'): number =>
    plan.operations.filter((operation) => operation.kind === kind).length;
  return {
    reason: run.reason,
    form: plan.form,
    failedForms,
    tokensBefore,
    tokensAfter: tokensNow(agent, conversation),
    parts: plan.parts.length,
    calls: [...calls],
    operations: { clip: count('clip'), clear: count('clear'), strip: count('strip') },
    firstKeptSequence: plan.firstKeptSequence,
  };
}
