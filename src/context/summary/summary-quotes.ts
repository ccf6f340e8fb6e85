import { resolveAmount } from '../policy/budget.ts';
import { saidText } from '../log/attached-text.ts';
import { headOf } from '../plan/clip.ts';
import type { Entry } from '../log/entry.ts';
import { NO_CALIBRATION, estimateTokens } from '../log/estimate.ts';
import { quoteText } from '../log/frames.ts';
import { measureText } from '../log/measure.ts';
import { formatCount } from '../view/placeholders.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import type { PlanningState } from '../plan/planning-state.ts';
import { parseSections, renderSections } from './check-summary.ts';
import type { PlanPart } from '../plan/plan.ts';

/** Of a message that does not fit, so many characters stay. */
const EXCERPT_CHARACTERS = 200;
/** Number and quotation marks of one message. Tokens. */
const FRAME_TOKENS = 6;

/**
 * What the quoted user messages may take in a summary that covers everything before a cut. Tokens.
 *
 * @param before position of the cut
 */
export function quotedTokens({ input, table, storedTokens }: PlanningState, before: number): number {
  const { policy, budget, summary } = input;
  if (policy.summary.quotedMessages === null || quotingSection(policy) === undefined) return 0;
  const limit = resolveAmount(policy.summary.quotedMessages, budget);
  // Those that an earlier summary quotes are counted with all they may take.
  if (summary !== null) return limit;
  let whole = 0;
  for (let position = 0; position < before; position += 1) {
    if (table.kindAt(position) === 'user') whole += (storedTokens[position] ?? 0) + FRAME_TOKENS;
  }
  return Math.min(limit, whole);
}

export function quotingSection(policy: CompactionPolicy): string | undefined {
  return policy.summary.sections.find((section) => section.quotesUserMessages === true)?.title;
}

/**
 * User messages in their exact words, numbered in the order in which they came. When they are more
 * than fits, the older ones are shortened, with the id by which `recall_open` shows them; the oldest
 * are counted.
 */
export function quoteUserMessages(messages: readonly Entry[], maximumTokens: number): string {
  const tokens = (text: string): number => estimateTokens(measureText(text), NO_CALIBRATION) + FRAME_TOKENS;
  const quotes: string[] = [];
  let left = maximumTokens;
  const newestFirst = messages.toSorted((one, other) => other.sequence - one.sequence);
  for (const [index, message] of newestFirst.entries()) {
    const number = messages.length - index;
    const whole = quote(number, saidText(message.content));
    const text = tokens(whole) <= left ? whole : quote(number, excerpt(message));
    left -= tokens(text);
    if (left < 0) {
      quotes.push(`(${formatCount(number)} older messages are in the log: recall_search finds them.)`);
      break;
    }
    quotes.push(text);
  }
  return quotes.reverse().join('\n');
}

const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/gu;

/** Lines after the first are indented, so that none of them can be taken for a heading of the summary. */
function quote(number: number, text: string): string {
  return `${number}. "${quoteText(text).replaceAll(LINE_END, '\n    ')}"`;
}

function excerpt(message: Entry): string {
  const text = saidText(message.content);
  if (text.length <= EXCERPT_CHARACTERS) return text;
  return (
    `${headOf(text, EXCERPT_CHARACTERS)} [${formatCount(text.length - EXCERPT_CHARACTERS)} characters omitted; ` +
    `recall_open ${message.id} shows all]`
  );
}

export function insertQuotes(policy: CompactionPolicy, text: string, quotes: string): string {
  const quoting = quotingSection(policy);
  if (quoting === undefined) return text;
  const titles = policy.summary.sections.map((section) => section.title);
  const { headings } = policy.summary;
  const written = new Map(parseSections(text, titles, headings).map((section) => [section.title, section.text]));
  written.set(quoting, quotes);
  return renderSections(
    titles.map((title) => ({ title, text: written.get(title) ?? '' })),
    headings,
  );
}

/** The policy as a model is asked with: without the section that the program fills, condensed when the answer has little room. */
export function askedPolicy(policy: CompactionPolicy, maximumOutput: number): CompactionPolicy {
  const { condensed } = policy.summary;
  const sections =
    condensed !== null && maximumOutput < condensed.belowTokens ? condensed.sections : policy.summary.sections;
  const asked = sections.filter((section) => section.quotesUserMessages !== true);
  if (asked.length === policy.summary.sections.length && sections === policy.summary.sections) return policy;
  return { ...policy, summary: { ...policy.summary, sections: asked } };
}

/** The policy as a part asks with it: a flush has sections and a prompt of its own; others are asked for what a model has to write. */
export function partPolicy(policy: CompactionPolicy, part: PlanPart): CompactionPolicy {
  const { flush } = policy.summary;
  if (part.kind !== 'flush' || flush === null) return askedPolicy(policy, part.maximumOutput);
  const { summary } = policy;
  const prompts = { ...summary.prompts, history: flush.prompt };
  return { ...policy, summary: { ...summary, prompts, sections: flush.sections, headings: 'markdown' } };
}

/** Whether no other part follows: its text, or the one it is put together with, is the summary. */
export function isLastPart(parts: readonly PlanPart[], part: PlanPart): boolean {
  return parts.every((other) => other.number <= part.number);
}
