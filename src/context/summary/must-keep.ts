import { saidText } from '../log/attached-text.ts';
import { headOf } from '../plan/clip.ts';
import { textOf } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import { NO_CALIBRATION, estimateTokens } from '../log/estimate.ts';
import { LINES, nameText, quoteText } from '../log/frames.ts';
import { groupEntries } from '../log/groups.ts';
import { identifiersIn, pathsInArguments } from '../log/identifiers.ts';
import { measureText } from '../log/measure.ts';
import { readableText } from '../log/readable-text.ts';

/** Heads the section that the program appends to a summary of the model. */
export const KEPT_HEADING = LINES.kept;

/** A request counts as covered when the summary holds this share of its longer words. */
const COVERED_WORDS = 0.4;
const EXCERPT_CHARACTERS = 300;
const IDENTIFIERS_MAXIMUM = 60;

/**
 * What a summary of `entries` must hold and does not, each as one line to append: tool calls
 * whose outcome nobody knows, requests, identifiers that the user or the last answer named, files.
 * Most important first. Rules are not among it: they come from the agent's configuration and stand in the system text.
 */
export function missingFromSummary(input: {
  readonly text: string;
  readonly entries: readonly Entry[];
  /** User messages of the running turn that an earlier summary covers: the task is still open. Default: none. */
  readonly openRequests?: readonly Entry[];
  /** Previous summary and texts of parts: what was appended to them earlier must not be lost now. Default: none. */
  readonly earlierTexts?: readonly string[];
}): string[] {
  const text = input.text.toLowerCase();
  const { openRequests = [] } = input;
  const read = [...openRequests, ...input.entries];
  const missing = [
    ...openCalls(input.entries),
    ...requests(read, text),
    ...identifiers(read, text),
    ...(input.earlierTexts ?? []).flatMap(appendedLines),
    ...files(input.entries, text),
  ];
  return [...new Set(missing)].filter((line) => !text.includes(line.toLowerCase()));
}

/** Calls without a result in groups that are surely over; the last group may go on in a later part. */
function openCalls(entries: readonly Entry[]): string[] {
  const groups = groupEntries(entries).filter((group) => group.kind === 'user' || group.kind === 'exchange');
  return groups.slice(0, -1).flatMap((group) => {
    if (group.kind !== 'exchange') return [];
    const [assistant, ...results] = group.entries;
    const closed = new Set(results.map((result) => result.callIndex));
    return (assistant?.content ?? []).flatMap((part) =>
      part.type === 'tool_call' && !closed.has(part.index)
        ? [`Outcome unknown: ${nameText(part.name)} ${oneLine(part.arguments)}`]
        : [],
    );
  });
}

function requests(entries: readonly Entry[], text: string): string[] {
  return entries.flatMap((entry) => {
    const request = entry.kind === 'user' ? saidText(entry.content) : '';
    if (request.trim() === '' || isCovered(readableText(request), text)) return [];
    return [`User: "${oneLine(request)}"`];
  });
}

function isCovered(request: string, text: string): boolean {
  const words = [
    ...new Set(
      headOf(request, 1_000)
        .toLowerCase()
        .match(/[\p{L}\p{N}]{4,}/gu) ?? [],
    ),
  ];
  const found = words.filter((word) => text.includes(word)).length;
  return words.length > 0 && found >= words.length * COVERED_WORDS;
}

/** Named by the user, by the plan, or by the newest answer: what is still being worked with. */
function identifiers(entries: readonly Entry[], text: string): string[] {
  const newestAnswer = entries.findLast((entry) => entry.kind === 'assistant' && textOf(entry.content).trim() !== '');
  const newestPlan = entries.findLast((entry) => entry.kind === 'note' && entry.slot === 'plan');
  const sources = [...entries.filter((entry) => entry.kind === 'user'), newestPlan, newestAnswer];
  const named = sources.flatMap((entry) =>
    entry === undefined ? [] : identifiersIn(headOf(readableText(textOf(entry.content)), 20_000)),
  );
  return [...new Set(named)]
    .filter((identifier) => !text.includes(identifier.toLowerCase()))
    .slice(-IDENTIFIERS_MAXIMUM)
    .map((identifier) => `Identifier: ${identifier}`);
}

function files(entries: readonly Entry[], text: string): string[] {
  const paths = entries.flatMap((entry) =>
    entry.kind === 'assistant'
      ? entry.content.flatMap((part) => (part.type === 'tool_call' ? pathsInArguments(part.arguments) : []))
      : [],
  );
  const newestFirst = [...new Set(paths.toReversed())];
  return newestFirst.filter((path) => !isNamed(path, text)).map((path) => `File: ${path}`);
}

/** By its path or the last two names of it; `README.md` alone could be any. */
function isNamed(path: string, text: string): boolean {
  const names = path
    .toLowerCase()
    .split(/[/\\]/)
    .filter((name) => name !== '' && name !== '.');
  return text.includes(names.slice(-2).join('/'));
}

/** The items right below each of these headings: what others wrote holds none. */
function appendedLines(text: string): string[] {
  let isBelow = false;
  return text.split('\n').flatMap((line) => {
    isBelow = line === KEPT_HEADING || (isBelow && line.startsWith('- '));
    return isBelow && line !== KEPT_HEADING ? [line.slice(2)] : [];
  });
}

/**
 * The summary with what it lacks as a last section, as far as `maximumTokens` allow for the whole.
 * Appended from the originals, because asking the model again would cost a call and may fail again.
 */
export function appendMissing(text: string, missing: readonly string[], maximumTokens: number): string {
  let left = maximumTokens - tokensOf(text) - sectionTokens();
  const lines: string[] = [];
  for (const line of missing) {
    const item = quoteText(line);
    left -= lineTokens(item);
    if (left < 0) break;
    lines.push(`- ${item}`);
  }
  return lines.length === 0 ? text : `${text}\n\n${KEPT_HEADING}\n${lines.join('\n')}`;
}

function tokensOf(text: string): number {
  return estimateTokens(measureText(text), NO_CALIBRATION);
}

function sectionTokens(): number {
  return tokensOf(`\n\n${KEPT_HEADING}`);
}

function lineTokens(line: string): number {
  return tokensOf(`\n- ${line}`);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= EXCERPT_CHARACTERS ? line : `${headOf(line, EXCERPT_CHARACTERS)} …`;
}
