import { resolveAmount } from '../policy/budget.ts';
import { headOf } from '../plan/clip.ts';
import { estimateTokens } from '../log/estimate.ts';
import { splitLists } from './file-lists.ts';
import { measureText } from '../log/measure.ts';
import type { Budget, Calibration } from '../plan/plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
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
  if (overflowGuard === null) return text;
  const over = of.tokensAfter - resolveAmount(overflowGuard, budget);
  if (over <= 0) return text;
  const maximumTokens = estimateTokens(measureText(text), calibration) - over;
  return shortenSummary(text, { policy, maximumTokens, calibration });
}

/**
 * The summary, shortened step by step until it fits: the longest section loses its end first, so
 * that every section keeps its heading and its beginning. The program's lists below stay whole, or go when they leave no room:
 * they are kept beside the summary.
 */
export function shortenSummary(
  text: string,
  of: { readonly policy: CompactionPolicy; readonly maximumTokens: number; readonly calibration: Calibration },
): string {
  const { sections: wanted, headings } = of.policy.summary;
  const maximum = Math.max(SMALLEST_GUARDED, of.maximumTokens);
  const tokens = (value: string): number => estimateTokens(measureText(value), of.calibration);
  if (tokens(text) <= maximum) return text;
  const { written, lists } = splitLists(text);
  const below = lists === '' ? '' : `\n\n${lists}`;
  const room = maximum - tokens(below);
  const fits = (shortened: string): boolean => tokens(shortened) <= (room < SMALLEST_GUARDED ? maximum : room);
  const titles = wanted.map((section) => section.title);
  const shortened = shortenSections(parseSections(written, titles, headings), headings, fits) ?? cutText(written, fits);
  return room < SMALLEST_GUARDED ? shortened : shortened + below;
}

/** `null` for a text without headings, as a hook may write it. */
function shortenSections(
  found: readonly WrittenSection[],
  headings: CompactionPolicy['summary']['headings'],
  fits: (text: string) => boolean,
): string | null {
  if (found.length === 0) return null;
  let sections = found;
  let shortened = renderSections(sections, headings);
  while (!fits(shortened)) {
    const longest = sections.reduce((best, section) => (section.text.length > best.text.length ? section : best));
    if (longest.text.length <= SHORTEST_SECTION) break;
    sections = sections.map((section) => (section === longest ? { ...section, text: shorter(section.text) } : section));
    shortened = renderSections(sections, headings);
  }
  return shortened;
}

function cutText(text: string, fits: (text: string) => boolean): string {
  let shortened = text;
  while (!fits(shortened) && shortened.length > SHORTEST_SECTION) shortened = shorter(shortened);
  return shortened;
}

function shorter(text: string): string {
  const kept = text.endsWith(MARK) ? text.slice(0, -MARK.length) : text;
  return headOf(kept, Math.floor(kept.length * STEP) - MARK.length).trimEnd() + MARK;
}
