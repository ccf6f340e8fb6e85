import { saidText } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import { quoteText } from '../log/frames.ts';
import { textTokens } from '../log/measure.ts';
import { headOf } from '../plan/clip.ts';
import type { PlanPart } from '../plan/plan.ts';
import type { CompactionPolicy, Prompt } from '../policy/policy.ts';
import { formatCount } from '../view/notes.ts';
import { branchPolicy } from './branch-summary.ts';
import { splitLists } from './summary-message.ts';

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

export interface WrittenSection {
  readonly title: string;
  readonly text: string;
}

const HEADING = /^\s{0,3}(?:#{1,6}\s|\*\*)(.*\S)/;

/** A heading as models vary it: "## 1. **Open items:**" → "open items". `null` for any other line. */
function headingOf(line: string): string | null {
  const match = HEADING.exec(line);
  if (match === null) return null;
  return normalTitle(match[1] ?? '');
}

function normalTitle(title: string): string {
  return title
    .replaceAll(/[*_`#]/g, '')
    .replace(/^\s*\d+[.)]/, '')
    .trim()
    .replace(/:$/, '')
    .trim()
    .toLowerCase();
}

/** `labels`: `TASK: …`, as plain text; `markdown`: `## Task`. */
type HeadingStyle = 'markdown' | 'labels';

/**
 * The sections of the given titles that a text holds, in the order in which they stand in it. Only
 * these titles count as headings: a ledger may quote headings of the files that it is about.
 */
export function parseSections(text: string, titles: readonly string[], style?: HeadingStyle): WrittenSection[] {
  const byTitle = new Map(titles.map((title) => [normalTitle(title), title]));
  const sections: { title: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const labelled = style === 'labels' ? labelOf(line, titles) : null;
    const heading = headingOf(line);
    const title = labelled?.title ?? (heading === null ? undefined : byTitle.get(heading));
    if (title === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ title, lines: labelled === null ? [] : [labelled.rest] });
  }
  return sections.map(({ title, lines }) => ({ title, text: lines.join('\n').trim() }));
}

/** A label stands at the start of its line in exactly these letters: "Data: 5" within a section is no heading. */
function labelOf(line: string, titles: readonly string[]): { readonly title: string; readonly rest: string } | null {
  const plain = line.replace(/^\s{0,3}(?:#{1,6}\s+)?\*{0,2}/, '');
  const title = titles.find((each) => plain.startsWith(`${each}:`) || plain.startsWith(`${each}**:`));
  if (title === undefined) return null;
  return { title, rest: plain.slice(plain.indexOf(':') + 1).replace(/^\*{0,2}\s*/, '') };
}

/** The sections of a finished summary, without the program's lists below it. */
export function readSections(
  text: string,
  { headings, sections }: Pick<CompactionPolicy['summary'], 'headings' | 'sections'>,
): WrittenSection[] {
  const { written } = splitLists(text);
  const own = written.split('\n').flatMap((line) => (line.startsWith('## ') ? [line.slice(3).trim()] : []));
  const titles = headings === 'labels' ? sections.map(({ title }) => title) : [...new Set(own)];
  return parseSections(written, titles, headings);
}

export function renderSections(sections: readonly WrittenSection[], style: HeadingStyle = 'markdown'): string {
  return sections
    .map(({ title, text }) => {
      const body = text === '' ? '- none' : text;
      if (style === 'markdown') return `## ${title}\n${body}`;
      return body.includes('\n') || body.startsWith('- ') ? `${title}:\n${body}` : `${title}: ${body}`;
    })
    .join('\n\n');
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

/** The policy as a model is asked with: without the section that the program fills, condensed when the answer has little room. */
export function askedPolicy(policy: CompactionPolicy, maximumOutput: number): CompactionPolicy {
  const { condensed } = policy.summary;
  const sections =
    condensed !== null && maximumOutput < condensed.belowTokens ? condensed.sections : policy.summary.sections;
  const asked = sections.filter((section) => section.quotesUserMessages !== true);
  if (asked.length === policy.summary.sections.length && sections === policy.summary.sections) return policy;
  return { ...policy, summary: { ...policy.summary, sections: asked } };
}

/** The policy as a part asks with it: some kinds have sections and a prompt of their own. */
export function partPolicy(policy: CompactionPolicy, part: PlanPart): CompactionPolicy {
  const { flush, turnPrefix } = policy.summary;
  if (part.kind === 'branch') return branchPolicy(policy);
  if (part.kind === 'flush' && flush !== null) return policyWith(policy, { ...flush, headings: 'markdown' });
  if (part.kind === 'turn_prefix' && turnPrefix !== null) return policyWith(policy, turnPrefix);
  return askedPolicy(policy, part.maximumOutput);
}

type Asked = Pick<CompactionPolicy['summary'], 'sections'> & Partial<Pick<CompactionPolicy['summary'], 'headings'>>;

function policyWith(
  { summary, ...policy }: CompactionPolicy,
  { prompt, sections, headings = summary.headings }: Asked & { readonly prompt: Prompt },
): CompactionPolicy {
  return { ...policy, summary: { ...summary, prompts: { ...summary.prompts, history: prompt }, sections, headings } };
}

/** Whether no other part follows: its text, or the one it is put together with, is the summary. */
export function isLastPart(parts: readonly PlanPart[], part: PlanPart): boolean {
  return parts.every((other) => other.number <= part.number);
}
