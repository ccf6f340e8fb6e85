import type { CompactionPolicy, SummaryFraming } from '../policy/policy.ts';
import type { SummaryShown } from '../plan/plan.ts';
import { DEFAULT_FRAMING, framingWithRecall } from './summary-message.ts';
import type { SummaryForm } from '../plan/summary-rooms.ts';

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
