import type { CompactionPolicy, SummaryFraming } from './policy.ts';
import type { SummaryShown } from './plan.ts';
import { DEFAULT_FRAMING } from './summary-message.ts';
import type { SummaryForm } from './summary-rooms.ts';

/** The words around a summary of a form. */
export function summaryFraming({ summary }: CompactionPolicy, form: SummaryForm): SummaryFraming {
  const framing = summary.framing ?? DEFAULT_FRAMING;
  if (form !== 'extractive_summary' || summary.extractOpening === undefined) return framing;
  return { ...framing, opening: summary.extractOpening };
}

/** How a plan's summary is shown; `undefined` when the policy leaves it to the pipeline. */
export function summaryShown(
  policy: CompactionPolicy,
  form: SummaryForm,
  afterSequence: number,
): SummaryShown | undefined {
  const { placement, framing } = policy.summary;
  if (placement === undefined && framing === undefined) return undefined;
  return { placement: placement ?? 'first', framing: summaryFraming(policy, form), afterSequence };
}
