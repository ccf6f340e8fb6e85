import { summaryView, type SummaryRequest } from '../../context/summary/summary-request.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import { redactTexts } from '../../tools/runtime/redact-secrets.ts';
import { summaryRequestOptions } from '../../turn/request-options.ts';
import type { RequestOptions } from '../../turn/request-options.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { previousText } from './finished-text.ts';
import { redactedView } from './redacted-view.ts';
import type { SummaryTask } from './summarize.ts';

/** A request for a summary, and how it is made. */
export interface AskedRequest extends SummaryRequest {
  readonly options: RequestOptions;
  /** Secrets that were left out of it. */
  readonly redacted: number;
}

/** A request of its own, without secrets (R28): those of what it quotes in part are left out before. */
export async function summaryRequest(dependencies: ActivityDependencies, task: SummaryTask): Promise<AskedRequest> {
  const { focus, instructions, count } = await redactedWords(task);
  const request = await plainRequest(dependencies, task, { focus, instructions });
  const { view, redacted } = await redactedView(request.view);
  const options = summaryRequestOptions(task.snapshot.request);
  return { ...request, view, options, redacted: redacted + count + task.leftOut };
}

interface QuotedWords {
  readonly focus: string | null;
  readonly instructions: string;
}

async function redactedWords({ source, snapshot }: SummaryTask): Promise<QuotedWords & { readonly count: number }> {
  const { focus } = source.compaction;
  const { texts, count } = await redactTexts([snapshot.instructions, focus ?? '']);
  const [instructions = '', shown = ''] = texts;
  return { instructions, focus: focus === null ? null : shown, count };
}

async function plainRequest(
  { database }: ActivityDependencies,
  task: SummaryTask,
  { focus, instructions }: QuotedWords,
): Promise<SummaryRequest> {
  const { source, snapshot, policy, entries } = task;
  return summaryView({
    policy,
    parts: source.compaction.plan.parts,
    part: source.row.part,
    entries,
    previousSummary: previousText(source),
    partTexts: source.parts.map((each) => ({ kind: each.part.kind, text: each.text ?? '' })),
    focus,
    agent: { ...snapshot, instructions },
    contextLines: source.compaction.contextLines,
    turnIsOpen: source.compaction.plan.insideTurn,
    summarizer: snapshot.summarizer.limits,
    calibration: await readCalibration(database, { ...task.input.turn, ...snapshot.summarizer }),
    shorter: source.compaction.form === 'shorter_summary',
  });
}
