import type { ContentPart } from '../log/content.ts';
import { LINES, quoteLines } from '../log/frames.ts';
import { measureContent } from '../log/measure.ts';
import { sumMeasurements } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';
import type { CompactionPolicy, SummaryFraming } from '../policy/policy.ts';
import type { ViewMessage } from '../view/view.ts';
import type { SummaryShown, SummaryForm } from '../plan/plan.ts';

/** The summary as the view shows it: one message of the user, or a question with its answer (seeds/opencode.md). */
export function summaryMessages(text: string, question: string | null, framing?: SummaryFraming): ViewMessage[] {
  if (question === null) return [{ role: 'user', content: summaryContent(text, framing), origin: 'summary' }];
  return [
    { role: 'user', content: [{ type: 'text', text: question }], origin: 'summary' },
    { role: 'assistant', content: [{ type: 'text', text }], callNumber: 0, turnId: '' },
  ];
}

/** A message of the user that says so, or the answer to a question that nobody asked: it belongs to no turn (R33). */
export function isSummaryMessage(message: ViewMessage): boolean {
  if (message.role === 'assistant') return message.turnId === '';
  return message.role === 'user' && message.origin === 'summary';
}

export function measureSummary(text: string, question: string | null, framing?: SummaryFraming): Measurements {
  const shown = summaryMessages(text, question, framing);
  return sumMeasurements(shown.map((each) => measureContent('content' in each ? each.content : [])));
}

/**
 * The words around a summary unless its preset has its own. They tell the model that the text is a
 * record and not a request, and that requests shown again below it may be done already, so that
 * nothing is answered twice (R17).
 */
export const DEFAULT_FRAMING: SummaryFraming = {
  opening:
    `${LINES.summary}\n` +
    'Older messages were taken out to make room. This summary stands for them; trust its facts instead of redoing work.',
  closing:
    `${LINES.summaryEnd}\n` +
    "User messages that follow right after this are older ones, repeated word for word: the summary's request and outcome " +
    'pairs tell which of them are done. Answer only what is still open.',
};

/**
 * The same with the way back: the words for a piece that no placeholder stands for. Written
 * with the plan, so that what an earlier pass shows never changes.
 */
export function framingWithRecall(newestEntryId: string): SummaryFraming {
  const { opening, closing } = DEFAULT_FRAMING;
  const wayBack = `Every original is kept: recall_search finds it, recall_open shows it by its id; the newest that was taken out is ${newestEntryId}.`;
  return { opening: `${opening} ${wayBack}`, closing };
}

export function summaryContent(text: string, framing: SummaryFraming = DEFAULT_FRAMING): readonly ContentPart[] {
  const { opening, closing } = framing;
  const marks = [opening, closing].flatMap((words) => words.split('\n', 1));
  const blocks = [opening, quoteLines(text, marks), closing];
  return [{ type: 'text', text: blocks.filter((block, index) => index === 1 || block !== '').join('\n\n') }];
}

/**
 * The words around a summary of a form.
 *
 * @param newestEntryId newest entry that leaves the view, when the agent can open it again; else `null`
 */
export function summaryFraming(
  { summary }: CompactionPolicy,
  form: SummaryForm,
  newestEntryId: string | null,
): SummaryFraming {
  const own = newestEntryId === null ? DEFAULT_FRAMING : framingWithRecall(newestEntryId);
  const framing = summary.framing ?? own;
  if (form !== 'extractive_summary' || summary.extractOpening === null) return framing;
  return { ...framing, opening: summary.extractOpening };
}

/** How a plan's summary is shown; `undefined` when the policy leaves it to the pipeline, and nothing more is to be said. */
export function summaryShown(
  policy: CompactionPolicy,
  of: { readonly form: SummaryForm; readonly afterSequence: number; readonly newestEntryId: string | null },
): SummaryShown | undefined {
  const { placement, framing } = policy.summary;
  const { form, afterSequence, newestEntryId } = of;
  if (placement === 'first' && framing === null && newestEntryId === null) return undefined;
  return { placement, framing: summaryFraming(policy, form, newestEntryId), afterSequence };
}
