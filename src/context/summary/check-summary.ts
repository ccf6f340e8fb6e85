import { NO_CALIBRATION, estimateTokens } from '../log/estimate.ts';
import { quoteText } from '../log/frames.ts';
import { measureText } from '../log/measure.ts';
import type { PlanPart } from '../plan/plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import { sectionsOf } from './summary-request.ts';
import { parseSections, renderSections } from './summary-sections.ts';
import type { WrittenSection } from './summary-sections.ts';

export type SummaryProblem =
  /** No text, or nothing but headings and "none": committing it would wipe the history (R20). */
  | 'empty'
  /** The model stopped for lack of room (R22). */
  | 'cut_off'
  /** Far longer than was asked for (R22). */
  | 'too_long'
  | 'missing_sections'
  /** The model went on with the conversation instead of summarizing it (R19). */
  | 'tool_call'
  | 'refused';

export type SummaryCheck =
  | { readonly ok: true; readonly text: string; readonly sections: readonly WrittenSection[] }
  | { readonly ok: false; readonly problem: SummaryProblem };

/** How far over the requested length an answer may be: the estimate alone may err by a fifth. */
const LENGTH_TOLERANCE = 1.5;

/** Characters of a section that says that it has nothing to say. */
const LONGEST_NOTHING = 100;

const NOTHING = /^[\s\-*•]*(none|n\/a|nothing|nothing yet|\(none\)|\(empty\))?[\s.]*$/i;

/**
 * Whether an answer of the summarizing model can stand for what it summarizes. The text that comes
 * back has its sections in the policy's order under the policy's own headings, no preface, and no mark of a frame: what the
 * model read may have held some.
 */
export function checkSummary(answer: {
  readonly policy: CompactionPolicy;
  readonly kind?: PlanPart['kind'];
  readonly text: string;
  readonly stopReason:
    | 'end'
    | 'tool_calls'
    | 'maximum_output'
    | 'refusal'
    | 'content_filter'
    | 'window_full'
    | 'paused'
    | 'other';
  readonly calledTool: boolean;
  readonly maximumOutputTokens: number;
}): SummaryCheck {
  const failed = (problem: SummaryProblem): SummaryCheck => ({ ok: false, problem });
  if (answer.calledTool || answer.stopReason === 'tool_calls') return failed('tool_call');
  if (answer.stopReason === 'refusal' || answer.stopReason === 'content_filter') return failed('refused');
  if (answer.stopReason === 'maximum_output' || answer.stopReason === 'window_full') return failed('cut_off');
  const written = quoteText(answer.text).trim();
  if (written === '') return failed('empty');
  const { headings } = answer.policy.summary;
  const wanted = sectionsOf(answer.policy, answer.kind ?? 'history');
  if (wanted.length === 0) return { ok: true, text: written, sections: [] };
  const titles = wanted.map((section) => section.title);
  const found = parseSections(written, titles, headings);
  const sections = titles.flatMap((title) => mergedSection(title, found));
  if (sections.length < titles.length) return failed('missing_sections');
  if (sections.every(({ text }) => text.length <= LONGEST_NOTHING && NOTHING.test(text))) return failed('empty');
  const text = renderSections(sections, headings);
  if (estimateTokens(measureText(text), NO_CALIBRATION) > answer.maximumOutputTokens * LENGTH_TOLERANCE) {
    return failed('too_long');
  }
  return { ok: true, text, sections };
}

/** A heading that stands twice is one section; text under either is kept. */
function mergedSection(title: string, found: readonly WrittenSection[]): WrittenSection[] {
  const same = found.filter((section) => section.title === title);
  if (same.length === 0) return [];
  return [
    {
      title,
      text: same
        .map((section) => section.text)
        .join('\n')
        .trim(),
    },
  ];
}
