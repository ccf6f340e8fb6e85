import { composeSummary } from '../../context/compose-summary.ts';
import { continuationContent } from '../../context/continuation.ts';
import { estimateTokens, NO_CALIBRATION } from '../../context/estimate.ts';
import { judgeCompaction, viewAfterCompaction } from '../../context/judge-compaction.ts';
import { measureContent } from '../../context/measure.ts';
import { addMeasurements } from '../../context/measurement-arithmetic.ts';
import type { CompactionForm, CompactionPlan, PlanInput, PlanPart, PlanResult } from '../../context/plan.ts';
import { planCompaction, weakerForm } from '../../context/plan-compaction.ts';
import { summaryContent } from '../../context/summary-message.ts';
import { RECALL_OPEN } from '../../tools/names.ts';
import type { LabAgent } from './lab-agent.ts';
import type { LabConversation, NewLabSummary } from './lab-conversation.ts';
import { summarizePart } from './summarize-part.ts';
import type { PartText, SummaryCall } from './summarize-part.ts';

/** A pass that was committed. */
export interface LabPass {
  readonly reason: PlanInput['reason'];
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
 * What `fitContext` of the workflow does before a model call, with the decisions of the activities
 * `compactContext`, `summarize` and `commitCompaction`: fits, or a pass in ever weaker forms.
 * Calibration is that of a model nothing was learned of: the recorded usage belongs to other requests.
 */
export async function fitContext(
  agent: LabAgent,
  conversation: LabConversation,
  of: { readonly turnId: string; readonly forced: 'overflow' | null },
): Promise<FitResult> {
  const { budget, fixed } = agent;
  const tokens = tokensNow(agent, conversation);
  if (of.forced === null && tokens <= budget.trigger) return { kind: 'fits', tokens, pass: null, calls: [] };
  const reason = of.forced ?? 'threshold';
  const plan = (form?: CompactionForm): PlanResult =>
    planCompaction({
      policy: agent.policy,
      budget,
      calibration: NO_CALIBRATION,
      summarizer: agent.summarizer.limits,
      ...conversation.measuredView(fixed),
      turnId: of.turnId,
      reason,
      ...(form !== undefined && { form }),
    });
  const planned = plan();
  if (planned.kind === 'planned') return runForms(agent, conversation, { ...of, reason, first: planned.plan, plan });
  if (planned.kind === 'fits' || (of.forced === null && tokens <= budget.inputBudget)) {
    return { kind: 'fits', tokens, pass: null, calls: [] };
  }
  return { kind: 'exhausted', tokens, calls: [] };
}

export function tokensNow({ fixed }: LabAgent, conversation: LabConversation): number {
  return estimateTokens(addMeasurements(conversation.view, fixed), NO_CALIBRATION);
}

interface FormsToRun {
  readonly turnId: string;
  readonly reason: PlanInput['reason'];
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
    const failure = written.some(({ text }) => text === null) ? 'summary_failed' : null;
    const summary = failure === null ? summaryOf(written) : null;
    const verdict = failure ?? judge(agent, conversation, { plan, summary, tokensBefore });
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
    if (texts.some(({ text }) => text === null)) return written;
  }
  return written;
}

function summaryOf(parts: readonly PartText[]): NewLabSummary | null {
  if (parts.length === 0) return null;
  const { text } = composeSummary(parts.map((part) => ({ kind: part.kind, text: part.text ?? '' })));
  return { text, measurements: measureContent(summaryContent(text)) };
}

interface FinishedForm {
  readonly plan: CompactionPlan;
  readonly summary: NewLabSummary | null;
  readonly tokensBefore: number;
}

function judge(agent: LabAgent, conversation: LabConversation, { plan, summary, tokensBefore }: FinishedForm): string {
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
    tokensAfter: estimateTokens(after, NO_CALIBRATION),
    lastForm: weakerForm(plan.form) === null,
  });
}

function commit(
  agent: LabAgent,
  conversation: LabConversation,
  of: FinishedForm & {
    readonly run: FormsToRun;
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
    continuation: plan.continuation ? continuationContent({ recall }) : null,
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
