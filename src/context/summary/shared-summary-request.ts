import type { Measurements } from '../log/measurements.ts';
import { estimateTokens } from '../log/estimate.ts';
import { measureText } from '../log/measure.ts';
import { projectChecked } from '../plan/check-pinned.ts';
import type { CompactionPlan, CompactionReason } from '../plan/plan.ts';
import { measureView } from '../view/view-arrangement.ts';
import type { ProjectionInput } from '../view/view.ts';
import { instructionText, summaryRequestLimit } from './summary-request.ts';
import type { SummaryRequest, SummaryRequestInput } from './summary-request.ts';

export interface SharedRequestInput extends Omit<
  SummaryRequestInput,
  'previousSummary' | 'partTexts' | 'shorter' | 'parts'
> {
  readonly plan: Pick<CompactionPlan, 'form' | 'parts' | 'inPlace'>;
  readonly reason: CompactionReason;
  /** Answers of the model for this part that could not be used. */
  readonly failures: number;
  readonly shown: ProjectionInput;
  readonly fixed: Measurements;
  /** Tokens that the model may use besides the summary, for thinking. */
  readonly thinkingRoom: number;
}

export interface SharedRequest extends SummaryRequest {
  /** Of the beginning that both have. */
  readonly sharedTokens: number;
}

/**
 * The last request up to the cut, with the order to summarize behind it: the provider has all but the order in its cache.
 * `null` where a transcript is to be asked: the request would not fit or shows entries shortened, the provider refused the last one, the plan has several parts, or the model went on with its work when it was asked this way.
 */
export function sharedSummaryView(input: SharedRequestInput): SharedRequest | null {
  const { policy, plan, part, entries, shown, calibration } = input;
  const prompt = policy.summary.sharesPrefix;
  const last = entries.at(-1);
  if (prompt === null || last === undefined || input.failures > 0 || input.reason === 'overflow') return null;
  if (plan.form !== 'summary' || plan.inPlace === true || plan.parts.length > 1) return null;
  // A summary is made from originals.
  const shortened = new Set(shown.operations.filter(({ kind }) => kind !== 'strip').map(({ entryId }) => entryId));
  if (entries.some(({ id }) => shortened.has(id))) return null;
  const dropped = { ...shown, entries: shown.entries.filter(({ sequence }) => sequence <= last.sequence) };
  const sharedTokens = estimateTokens(measureView({ ...dropped, fixed: input.fixed }), calibration);
  const order = instructionText({ ...input, parts: plan.parts, previousSummary: null }, prompt, null);
  const limit = summaryRequestLimit(input.summarizer, part.maximumOutput + input.thinkingRoom);
  if (sharedTokens + estimateTokens(measureText(order), calibration) > limit) return null;
  const { messages, ...view } = projectChecked(dropped);
  return {
    view: {
      ...view,
      messages: [...messages, { role: 'user', content: [{ type: 'text', text: order }], origin: 'note' }],
    },
    promptVersion: `${prompt.name}@${prompt.version}`,
    sharedTokens,
  };
}
