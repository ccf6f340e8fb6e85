import { saidText, textOf } from '../log/content.ts';
import { firstFitting, headOf, oneLine } from '../plan/clip.ts';
import type { Entry } from '../log/entry.ts';
import { quoteText } from '../log/frames.ts';
import { groupEntries } from '../log/groups.ts';
import { identifiersIn, pathsInArguments, readableText } from '../log/readable-text.ts';
import { textTokens } from '../log/measure.ts';
import type { CompactionPolicy, SectionSubject } from '../policy/policy.ts';
import { parseSections, renderSections } from './sections.ts';

/** Characters that one line of the ledger keeps of a result, a request and the last answer. */
const RESULT_CHARACTERS = 240;
const REQUEST_CHARACTERS = 600;
const STATE_CHARACTERS = 1_000;
/** Characters of one result in which values are looked for. */
const SEARCHED_CHARACTERS = 50_000;
/** Of what another section may take: names without what was done with them must not crowd out the ledger. */
const FINDINGS_SHARE = 0.25;
/** No text has more. */
const CHARACTERS_PER_TOKEN = 8;

/**
 * A summary made without a model, when none could be had (R21): the user's messages, a ledger of
 * every tool call with the beginning of its result, values and files that were named, and the last
 * answer, in the policy's own sections, after what the previous summary says there. When it must be
 * shortened, the newest lines of each section stay, and the longest sections yield first.
 */
export function extractiveSummary(input: {
  readonly policy: CompactionPolicy;
  readonly entries: readonly Entry[];
  readonly previousSummary: string | null;
  readonly maximumTokens: number;
}): string {
  const { maximumTokens } = input;
  const { sections, headings } = input.policy.summary;
  const titles = sections.map(({ title }) => title);
  const previous = parseSections(input.previousSummary ?? '', titles, headings);
  const extracted = extractLines(input.entries);
  const written = sections.map(({ title, subject }, index) => {
    const earlier = previous.filter((section) => section.title === title).flatMap(({ text }) => contentLines(text));
    const isFirst = sections.findIndex((section) => section.subject === subject) === index;
    return { title, subject, lines: [...earlier, ...(isFirst ? extracted[subject].map(quoteText) : [])] };
  });
  const render = (characters: number): string => {
    const texts = written.map(({ title, subject, lines }) => {
      return { title, text: newestWithin(lines, characters * (subject === 'findings' ? FINDINGS_SHARE : 1)) };
    });
    return renderSections(texts, headings);
  };
  const fits = (text: string): boolean => textTokens(text) <= maximumTokens;
  // Quoted once more as a whole: a mark may go on in the next line.
  return quoteText(firstFitting({ from: maximumTokens * CHARACTERS_PER_TOKEN, least: 1, render, fits }));
}

function contentLines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '- none');
}

/** The newest lines that fit, each once; of the very newest at least its beginning. */
function newestWithin(lines: readonly string[], characters: number): string {
  const kept: string[] = [];
  let left = Math.floor(characters);
  for (const line of new Set(lines.toReversed())) {
    const text = kept.length === 0 ? headOf(line, left) : line;
    if (text.length > left) break;
    left -= text.length + 1;
    kept.push(text);
  }
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
    progress: groupEntries(entries).flatMap((group) => (group.kind === 'assistant' ? ledgerLines(group.entries) : [])),
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
