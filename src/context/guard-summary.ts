import { resolveAmount } from './budget.ts';
import { headOf } from './clip.ts';
import { estimateTokens } from './estimate.ts';
import { measureText } from './measure.ts';
import type { Budget, Calibration } from './plan.ts';
import type { CompactionPolicy } from './policy.ts';
import { parseSections, renderSections } from './summary-sections.ts';
import type { WrittenSection } from './summary-sections.ts';

/** However full the window, a summary keeps this much. Tokens. */
const SMALLEST_GUARDED = 200;
/** Each step leaves this share of the longest section. */
const STEP = 0.8;
/** A section below this is no longer worth shortening. Characters. */
const SHORTEST_SECTION = 80;
const MARK = '\n[… shortened to fit the window]';

/**
 * The summary as the policy's guard lets it into the view; the text itself when the view is within the guard.
 *
 * @param of.tokensAfter tokens of the view with the whole text
 */
export function guardedSummary(
  text: string,
  of: {
    readonly policy: CompactionPolicy;
    readonly budget: Budget;
    readonly tokensAfter: number;
    readonly calibration: Calibration;
  },
): string {
  const { policy, budget, calibration } = of;
  const { overflowGuard } = policy.summary;
  if (overflowGuard === undefined) return text;
  const over = of.tokensAfter - resolveAmount(overflowGuard, budget);
  if (over <= 0) return text;
  const maximumTokens = estimateTokens(measureText(text), calibration) - over;
  return shortenSummary(text, { policy, maximumTokens, calibration });
}

/**
 * The summary, shortened step by step until it fits: the longest section loses its end first, so
 * that every section keeps its heading and its beginning. The words around it are not part of it
 * and stay as they are.
 */
export function shortenSummary(
  text: string,
  of: { readonly policy: CompactionPolicy; readonly maximumTokens: number; readonly calibration: Calibration },
): string {
  const { sections: wanted, headings } = of.policy.summary;
  const maximum = Math.max(SMALLEST_GUARDED, of.maximumTokens);
  const tokens = (value: string): number => estimateTokens(measureText(value), of.calibration);
  if (tokens(text) <= maximum) return text;
  const titles = wanted.map((section) => section.title);
  let sections: readonly WrittenSection[] = parseSections(text, titles, headings);
  let shortened = renderSections(sections, headings);
  while (tokens(shortened) > maximum) {
    const longest = sections.reduce((best, section) => (section.text.length > best.text.length ? section : best));
    if (longest.text.length <= SHORTEST_SECTION) break;
    sections = sections.map((section) => (section === longest ? shorter(section) : section));
    shortened = renderSections(sections, headings);
  }
  return shortened;
}

function shorter({ title, text }: WrittenSection): WrittenSection {
  const kept = text.endsWith(MARK) ? text.slice(0, -MARK.length) : text;
  return { title, text: headOf(kept, Math.floor(kept.length * STEP) - MARK.length).trimEnd() + MARK };
}
