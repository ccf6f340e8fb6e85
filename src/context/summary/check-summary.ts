import { saidText } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import { quoteText } from '../log/frames.ts';
import { textTokens } from '../log/measure.ts';
import { headOf } from '../plan/clip.ts';
import type { PlanPart } from '../plan/plan.ts';
import type { CompactionPolicy, Prompt } from '../policy/policy.ts';
import { formatCount } from '../view/notes.ts';
import { BRANCH_SUMMARY } from './branch-summary.ts';
import { parseSections, renderSections } from './sections.ts';
import type { WrittenSection } from './sections.ts';

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
  | { readonly ok: true; readonly text: string }
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
  readonly text: string;
  readonly stopReason: string;
  readonly calledTool: boolean;
  readonly maximumOutputTokens: number;
}): SummaryCheck {
  const failed = (problem: SummaryProblem): SummaryCheck => ({ ok: false, problem });
  if (answer.calledTool || answer.stopReason === 'tool_calls') return failed('tool_call');
  if (answer.stopReason === 'refusal' || answer.stopReason === 'content_filter') return failed('refused');
  if (answer.stopReason === 'maximum_output' || answer.stopReason === 'window_full') return failed('cut_off');
  const written = quoteText(answer.text).trim();
  if (written === '') return failed('empty');
  const { headings, sections: wanted } = answer.policy.summary;
  if (wanted.length === 0) return { ok: true, text: written };
  const titles = wanted.map((section) => section.title);
  const found = parseSections(written, titles, headings);
  const sections = titles.flatMap((title) => mergedSection(title, found));
  if (sections.length < titles.length) return failed('missing_sections');
  if (sections.every(({ text }) => text.length <= LONGEST_NOTHING && NOTHING.test(text))) return failed('empty');
  const text = renderSections(sections, headings);
  if (textTokens(text) > answer.maximumOutputTokens * LENGTH_TOLERANCE) {
    return failed('too_long');
  }
  return { ok: true, text };
}

/** A heading that stands twice is one section; text under either is kept. */
function mergedSection(title: string, found: readonly WrittenSection[]): WrittenSection[] {
  const texts = found.filter((section) => section.title === title).map(({ text }) => text);
  return texts.length === 0 ? [] : [{ title, text: texts.join('\n').trim() }];
}

/** Of a message that does not fit, so many characters stay. */
const EXCERPT_CHARACTERS = 200;
/** Number and quotation marks of one message. Tokens. */
export const QUOTE_TOKENS = 6;

export function quotingSection(policy: CompactionPolicy): string | undefined {
  return policy.summary.sections.find((section) => section.quotesUserMessages === true)?.title;
}

/**
 * User messages in their exact words, numbered in the order in which they came. When they are more
 * than fits, the older ones are shortened, with the id by which `recall_open` shows them; the oldest
 * are counted.
 */
export function quoteUserMessages(messages: readonly Entry[], maximumTokens: number): string {
  const tokens = (text: string): number => textTokens(text) + QUOTE_TOKENS;
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

/** The policy as a part asks with it: some kinds have sections and a prompt of their own. */
export function partPolicy(policy: CompactionPolicy, part: Pick<PlanPart, 'kind' | 'maximumOutput'>): CompactionPolicy {
  return { ...policy, summary: { ...policy.summary, ...askedOf(policy.summary, part) } };
}

function askedOf(
  { prompts, flush, turnPrefix, condensed, sections }: CompactionPolicy['summary'],
  { kind, maximumOutput }: Parameters<typeof partPolicy>[1],
): Partial<CompactionPolicy['summary']> {
  const own = (asked: Pick<CompactionPolicy['summary'], 'sections'> & { readonly prompt: Prompt }) => {
    return { sections: asked.sections, prompts: { ...prompts, history: asked.prompt } };
  };
  if (kind === 'branch') return BRANCH_SUMMARY;
  if (kind === 'flush' && flush !== null) return { ...own(flush), headings: 'markdown' };
  if (kind === 'turn_prefix' && turnPrefix !== null) return own(turnPrefix);
  const all = condensed !== null && maximumOutput < condensed.belowTokens ? condensed.sections : sections;
  // The program fills the section that quotes the user.
  return { sections: all.filter((section) => section.quotesUserMessages !== true) };
}
