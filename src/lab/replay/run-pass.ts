import { composeSummary } from '../../context/compose-summary.ts';
import { continuationContent, continuationWords } from '../../context/continuation.ts';
import { countRequest } from '../../context/count-request.ts';
import { estimateTokens } from '../../context/estimate.ts';
import { extendFileLists, renderFileLists, withoutFileLists } from '../../context/file-lists.ts';
import type { FileLists } from '../../context/file-lists.ts';
import { guardedSummary } from '../../context/guard-summary.ts';
import { judgeCompaction, viewAfterCompaction } from '../../context/judge-compaction.ts';
import { addMeasurements } from '../../context/measurement-arithmetic.ts';
import type {
  Calibration,
  CompactionForm,
  CompactionPlan,
  CompactionReason,
  PlanPart,
  PlanResult,
} from '../../context/plan.ts';
import { planCompaction, weakerForm } from '../../context/plan-compaction.ts';
import type { CompactionPolicy } from '../../context/policy.ts';
import { measureSummary, presentationOf } from '../../context/summary-message.ts';
import { RECALL_OPEN } from '../../tools/names.ts';
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
 */
export async function fitContext(agent: LabAgent, conversation: LabConversation, wish: FitWish): Promise<FitResult> {
  const { budget, policy, fixed } = agent;
  const { turnId, forced, turnIsOver } = wish;
  const calibration = conversation.calibration(fixed);
  const request = addMeasurements(conversation.view, fixed);
  const tokens = estimateTokens(request, calibration);
  const counted = countRequest({ policy, budget, request, calibration, reported: conversation.reported });
  const maintained = turnIsOver && policy.reduceAfterTurn ? 'maintenance' : null;
  const reason = forced ?? (counted.isDue ? 'threshold' : maintained);
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
      ...(form !== undefined && { form }),
    });
  const planned = plan();
  if (planned.kind === 'planned') {
    const first = conversation.open(planned.plan, turnId);
    return runForms(agent, conversation, { turnId, reason, calibration, first, plan });
  }
  if (planned.kind === 'fits' || turnIsOver || (forced === null && tokens <= budget.inputBudget)) {
    return { kind: 'fits', tokens, pass: null, calls: [] };
  }
  return { kind: 'exhausted', tokens, calls: [] };
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
}

async function runForms(agent: LabAgent, conversation: LabConversation, run: FormsToRun): Promise<FitResult> {
  const calls: SummaryCall[] = [];
  const failedForms: { form: CompactionForm; failure: string }[] = [];
  const tokensBefore = run.first.tokensBefore;
  for (let plan: CompactionPlan | null = run.first; plan !== null; plan = nextPlan(run, plan.form)) {
    const written = await writeParts(agent, conversation, plan);
    calls.push(...written.flatMap((part) => part.calls));
    // A flush to memory comes beside the summary: without it the pass goes on.
    const readable = written.filter((part) => part.kind !== 'flush');
    const failure = readable.some(({ text }) => text === null) ? 'summary_failed' : null;
    const summary = failure === null ? summaryWithin(agent, conversation, { run, plan }, readable) : null;
    const verdict = failure ?? judge(agent, conversation, { run, plan, summary, tokensBefore });
    if (verdict === 'accepted') {
      const pass = commit(agent, conversation, { run, plan, summary, calls, failedForms, tokensBefore });
      return { kind: 'fits', tokens: tokensNow(agent, conversation), pass, calls };
    }
    failedForms.push({ form: plan.form, failure: verdict });
  }
  // What does not get smaller may still fit: then the model is called.
  const fits = run.reason !== 'overflow' && tokensBefore <= agent.budget.inputBudget;
  return fits
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
async function writeParts(agent: LabAgent, conversation: LabConversation, plan: CompactionPlan): Promise<PartText[]> {
  const written: PartText[] = [];
  const waves = [...new Set(plan.parts.map((part) => part.wave))].sort((left, right) => left - right);
  for (const wave of waves) {
    const before = [...written];
    const ofWave = plan.parts.filter((part: PlanPart) => part.wave === wave);
    const texts = await Promise.all(ofWave.map((part) => summarizePart(agent, conversation, { plan, part, before })));
    written.push(...texts);
    if (texts.some(({ text, kind }) => text === null && kind !== 'flush')) return written;
  }
  return written;
}

/** The summary, shortened where the policy guards against a view that is still too large. */
function summaryWithin(
  agent: LabAgent,
  conversation: LabConversation,
  { run, plan }: { readonly run: FormsToRun; readonly plan: CompactionPlan },
  parts: readonly PartText[],
): NewLabSummary | null {
  const { policy, budget, fixed } = agent;
  const { calibration } = run;
  const summary = summaryOf(agent, conversation, plan, parts);
  if (summary === null) return summary;
  const after = viewAfterCompaction(conversation.measuredView(fixed), plan, 'next', summary.measurements);
  const tokensAfter = estimateTokens(after, calibration);
  const text = guardedSummary(summary.text, { policy, budget, tokensAfter, calibration });
  if (text === summary.text) return summary;
  return { ...summary, text, measurements: measureSummary(text, presentationOf(policy), plan.shown?.framing) };
}

/** The text of all parts, with the lists of files below it; `null` when the plan writes no summary. */
function summaryOf(
  { policy }: LabAgent,
  conversation: LabConversation,
  plan: CompactionPlan,
  parts: readonly PartText[],
): NewLabSummary | null {
  if (parts.length === 0) return null;
  const previous = conversation.summary;
  const unread = policy.summary.splitTurn === 'separate' ? (previous?.text ?? null) : null;
  const composed = composeSummary(
    parts.map((part) => ({ kind: part.kind, text: part.text ?? '' })),
    unread === null ? null : withoutFileLists(unread),
    policy,
  );
  const files = listFiles(policy, conversation, plan);
  const lists = policy.summary.fileLists === null ? '' : renderFileLists(files);
  const text = lists === '' ? composed.text : `${composed.text}\n\n${lists}`;
  return { text, measurements: measureSummary(text, presentationOf(policy), plan.shown?.framing), files };
}

/** Files after a pass: those of the summary before, and what calls name that leave the view now. */
function listFiles({ summary }: CompactionPolicy, conversation: LabConversation, plan: CompactionPlan): FileLists {
  const earlier = conversation.summary?.files ?? { read: [], modified: [] };
  const fromSequence = plan.parts.find((part) => part.fromSequence !== undefined)?.fromSequence;
  const { coveredThroughSequence } = plan;
  if (summary.fileLists === null || coveredThroughSequence === null || fromSequence === undefined) return earlier;
  const dropped = conversation.entries.slice(fromSequence - 1, coveredThroughSequence);
  const answers = dropped.filter((entry) => entry.kind === 'assistant' && (entry.toolCallCount ?? 0) > 0);
  const calls = answers.flatMap((entry) =>
    conversation.content(entry).flatMap((part) => (part.type === 'tool_call' ? [part] : [])),
  );
  return extendFileLists({ earlier, calls, tools: summary.fileLists });
}

interface FinishedForm {
  readonly run: FormsToRun;
  readonly plan: CompactionPlan;
  readonly summary: NewLabSummary | null;
  readonly tokensBefore: number;
}

function judge(agent: LabAgent, conversation: LabConversation, form: FinishedForm): string {
  const { run, plan, summary, tokensBefore } = form;
  const after = viewAfterCompaction(
    conversation.measuredView(agent.fixed),
    plan,
    'next',
    summary?.measurements ?? null,
  );
  return judgeCompaction({
    plan,
    budget: agent.budget,
    tokensBefore,
    tokensAfter: estimateTokens(after, run.calibration),
    lastForm: weakerForm(plan.form) === null,
  });
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
  const recall = agent.view.tools.some((tool) => tool.name === RECALL_OPEN);
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
