import { saidText, textOf } from '../log/content.ts';
import { headOf, oneLine } from '../plan/clip.ts';
import type { Entry } from '../log/entry.ts';
import { NO_CALIBRATION } from '../log/estimate.ts';
import { quoteText } from '../log/frames.ts';
import { groupEntries } from '../log/groups.ts';
import { identifiersIn, pathsInArguments, readableText } from '../log/readable-text.ts';
import { textTokens } from '../log/measure.ts';
import type { Calibration } from '../plan/plan.ts';
import type { CompactionPolicy, SectionSubject } from '../policy/policy.ts';
import { parseSections, renderSections } from './check-summary.ts';

/** Characters that one line of the ledger keeps of a result, a request and the last answer. */
const RESULT_CHARACTERS = 240;
const REQUEST_CHARACTERS = 600;
const STATE_CHARACTERS = 1_000;
/** Characters of one result in which values are looked for. */
const SEARCHED_CHARACTERS = 50_000;

/** Shares of the whole that the subjects may take; what one leaves the next ones get. */
const SHARES: Readonly<Record<SectionSubject, number>> = {
  requests: 0.2,
  state: 0.1,
  open: 0.12,
  files: 0.08,
  progress: 0.4,
  findings: 0.1,
  decisions: 0,
};
const SUBJECTS: readonly SectionSubject[] = ['requests', 'state', 'open', 'files', 'progress', 'findings', 'decisions'];

/**
 * A summary made without a model, when none could be had (R21): the user's messages, a ledger of
 * every tool call with the beginning of its result, values and files that were named, and the last
 * answer, in the policy's own sections, after what the previous summary says there. When it must be
 * shortened, the newest lines stay.
 */
export function extractiveSummary(input: {
  readonly policy: CompactionPolicy;
  readonly entries: readonly Entry[];
  readonly previousSummary: string | null;
  readonly maximumTokens: number;
  readonly calibration?: Calibration;
}): string {
  const calibration = input.calibration ?? NO_CALIBRATION;
  const titles = input.policy.summary.sections.map((section) => section.title);
  const { headings } = input.policy.summary;
  const previous = parseSections(input.previousSummary ?? '', titles, headings);
  const lines = extractLines(input.entries);
  const frame = renderSections(
    titles.map((title) => ({ title, text: '' })),
    headings,
  );
  const tokens = (text: string): number => textTokens(text, calibration);
  const budget: LineBudget = { left: input.maximumTokens - tokens(frame), unused: 0, tokens };
  const texts = new Map<string, string>();
  for (const subject of SUBJECTS) {
    const sections = input.policy.summary.sections.filter((section) => section.subject === subject);
    for (const [index, section] of sections.entries()) {
      const earlier = previous.filter(({ title }) => title === section.title).flatMap(({ text }) => contentLines(text));
      const found = index === 0 ? lines[subject].map(quoteText) : [];
      const share = (input.maximumTokens * SHARES[subject]) / sections.length;
      texts.set(section.title, newestWithin([...earlier, ...found], share, budget));
    }
  }
  const written = titles.map((title) => ({ title, text: texts.get(title) ?? '' }));
  // Once more as a whole: a mark may go on in the next line.
  return quoteText(renderSections(written, headings));
}

interface LineBudget {
  left: number;
  /** Tokens that earlier subjects were allowed and did not use. */
  unused: number;
  readonly tokens: (text: string) => number;
}

function contentLines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '- none');
}

/** The newest lines that fit, each once; of the very newest at least its beginning. */
function newestWithin(lines: readonly string[], share: number, budget: LineBudget): string {
  const kept: string[] = [];
  const seen = new Set<string>();
  let own = Math.min(share + budget.unused, budget.left);
  for (const line of lines.toReversed()) {
    if (seen.has(line)) continue;
    seen.add(line);
    const size = budget.tokens(`${line}\n`);
    const fitting = size <= own ? line : kept.length === 0 ? headOf(line, Math.floor((line.length * own) / size)) : '';
    if (fitting.trim() === '') continue;
    const taken = Math.min(size, own);
    own -= taken;
    budget.left -= taken;
    kept.push(fitting);
  }
  budget.unused = own;
  return kept.reverse().join('\n');
}

type ExtractedLines = Readonly<Record<SectionSubject, readonly string[]>>;

function extractLines(entries: readonly Entry[]): ExtractedLines {
  const users = entries.filter((entry) => entry.kind === 'user').map((entry) => saidText(entry.content));
  const results = entries.filter((entry) => entry.kind === 'tool_result');
  const lastAnswer = entries.findLast((entry) => entry.kind === 'assistant' && textOf(entry.content).trim() !== '');
  const plan = entries.findLast((entry) => entry.kind === 'note' && entry.slot === 'plan');
  const values = results.flatMap((entry) =>
    identifiersIn(headOf(readableText(textOf(entry.content)), SEARCHED_CHARACTERS)),
  );
  return {
    requests: users
      .filter((text) => text.trim() !== '')
      .map((text) => `- User: "${oneLine(text, REQUEST_CHARACTERS)}"`),
    progress: groupEntries(entries).flatMap((group) => (group.kind === 'exchange' ? ledgerLines(group.entries) : [])),
    findings: [...new Set(values)].map((value) => `- ${value}`),
    decisions: [],
    files: filesOf(entries).map((path) => `- ${path}`),
    open: plan === undefined ? [] : contentLines(textOf(plan.content)),
    state: lastAnswer === undefined ? [] : [`- Last answer: ${oneLine(textOf(lastAnswer.content), STATE_CHARACTERS)}`],
  };
}

function ledgerLines([assistant, ...results]: readonly Entry[]): string[] {
  return (assistant?.content ?? []).flatMap((part) => {
    if (part.type !== 'tool_call') return [];
    const result = results.find((entry) => entry.callIndex === part.index);
    const call = `- ${part.name} ${oneLine(part.arguments, RESULT_CHARACTERS)}`;
    if (result === undefined) return [`${call}: outcome unknown`];
    const failed = result.isError === true ? 'failed: ' : '';
    return [`${call}: ${failed}${oneLine(textOf(result.content), RESULT_CHARACTERS)}`];
  });
}

function filesOf(entries: readonly Entry[]): string[] {
  const paths = entries.flatMap((entry) =>
    entry.content.flatMap((part) => (part.type === 'tool_call' ? pathsInArguments(part.arguments) : [])),
  );
  return [...new Set(paths)];
}
