import type { ContentPart } from '../log/content.ts';
import { LINES, frame, quoteLines, tagsOf } from '../log/frames.ts';
import type { FrameName } from '../log/frames.ts';
import { fileArguments } from '../log/readable-text.ts';
import { measureContent, textTokens } from '../log/measure.ts';
import { sumMeasurements } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';
import { oneLine } from '../plan/clip.ts';
import { parseNestedJson } from '../log/nested-json.ts';
import type { Budget, SummaryForm } from '../plan/plan.ts';
import { resolveAmount } from '../policy/budget.ts';
import type { CompactionPolicy, SummaryFraming, TokenAmount } from '../policy/policy.ts';
import { formatCount } from '../view/notes.ts';
import type { ViewMessage } from '../view/view.ts';

/** Files that the conversation has dealt with, each list in alphabetical order. */
export interface FileLists {
  /** Read and never modified. */
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

/** What the program itself keeps beside a summary: the files and the results of calls. */
export interface SummaryLedger extends FileLists {
  /** Oldest first; absent where there are none. */
  readonly results?: readonly LedgerResult[];
}

/**
 * The lists after a compaction: what the calls of the dropped entries name, added to the lists of the
 * compaction before (seeds/pi.md). A file that was modified once is no longer among the read ones.
 */
export function extendFileLists(input: {
  readonly earlier: FileLists;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly tools: NonNullable<CompactionPolicy['summary']['fileLists']>;
}): FileLists {
  const { earlier, calls, tools } = input;
  const filesOf = (names: readonly string[]): string[] =>
    calls.flatMap((call) => (names.includes(call.name) ? fileArguments(call.arguments) : []));
  const modified = new Set([...earlier.modified, ...filesOf(tools.modified)]);
  const read = new Set([...earlier.read, ...filesOf(tools.read)].filter((file) => !modified.has(file)));
  return { read: [...read].sort(), modified: [...modified].sort() };
}

/** The lists as they stand below a summary; empty when there is no file. */
export function renderFileLists({ read, modified }: FileLists): string {
  const list = (name: FrameName, files: readonly string[]): string[] =>
    files.length === 0 ? [] : [frame(name, files.join('\n'))];
  return [...list('readFiles', read), ...list('modifiedFiles', modified)].join('\n\n');
}

const LISTS = (['readFiles', 'modifiedFiles', 'earlierResults'] as const).map((name) => tagsOf(name).open);

/**
 * A summary, and the lists of the program that stand below it: what others wrote holds no mark of theirs. The lists are kept beside the
 * summary, and a model that repeats them would only let them grow old.
 */
export function splitLists(text: string): { readonly written: string; readonly lists: string } {
  const [begin = text.length] = LISTS.map((open) => text.indexOf(open))
    .filter((at) => at !== -1)
    .toSorted((one, other) => one - other);
  return { written: text.slice(0, begin).trimEnd(), lists: text.slice(begin) };
}

/** A finished tool call whose result a summary stands for. Holds nothing of what the tool put out: that is data, not record (R29). */
export interface LedgerResult {
  readonly entryId: string;
  readonly tool: string;
  /** The file that the call names, or its first argument, on one line. */
  readonly target: string;
  readonly outcome: 'succeeded' | 'failed' | 'outcome_unknown' | 'not_run';
  readonly characters: number;
}

/** Results that are remembered beside a summary; what a view shows of them is limited in tokens besides. */
export const LEDGER_LENGTH = 100;
/** About what a line takes, most of it for the id. */
export const LEDGER_LINE_TOKENS = 50;
const TARGET_CHARACTERS = 100;
/** About fifty lines in a large window, a dozen in one of 32,000 tokens. */
const SIZE: TokenAmount = { tokens: 2_000, fraction: 0.02, of: 'input_budget' };

/** What a call was about, whole: secrets are taken out of it before it is cut, for a part of one has no form any more. */
export function callSubject(argumentsText: string): string {
  const [file] = fileArguments(argumentsText);
  return file ?? firstText(argumentsText);
}

export function shortSubject(subject: string): string {
  return oneLine(subject, TARGET_CHARACTERS);
}

function firstText(argumentsText: string): string {
  const value = parseNestedJson(argumentsText);
  // Arguments that are not JSON were never carried out.
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).find((item): item is string => typeof item === 'string') ?? '';
}

/**
 * The ledger after a pass, oldest first: what it was before, and the results that leave the view now. The same call with a
 * result of the same size is listed once, where it was made last.
 */
export function extendLedger(earlier: readonly LedgerResult[], left: readonly LedgerResult[]): readonly LedgerResult[] {
  const newest = new Map<string, LedgerResult>();
  for (const result of [...earlier, ...left]) {
    const call = JSON.stringify([result.tool, result.target, result.characters]);
    newest.delete(call);
    newest.set(call, result);
  }
  return [...newest.values()].slice(-LEDGER_LENGTH);
}

export function ledgerSize(budget: Budget): number {
  return resolveAmount(SIZE, budget);
}

/**
 * The newest results as they stand below a summary (R18): what was done and where its outcome is, so that nothing is read
 * again only because its result left the view. Empty when not a line fits.
 *
 * @param of.recall whether the agent can open a result by its id
 */
export function renderLedger(
  results: readonly LedgerResult[],
  of: { readonly maximumTokens: number; readonly recall: boolean },
): string {
  const heading = of.recall
    ? 'Results that are no longer shown, newest last; recall_open with the id shows one again:'
    : 'Results that are no longer shown, newest last:';
  let left = of.maximumTokens - textTokens(frame('earlierResults', heading));
  const lines: string[] = [];
  for (const result of results.toReversed()) {
    const line = ledgerLine(result, of.recall);
    left -= textTokens(`${line}\n`);
    if (left < 0) break;
    lines.unshift(line);
  }
  return lines.length === 0 ? '' : frame('earlierResults', [heading, ...lines].join('\n'));
}

const OUTCOMES: Readonly<Record<LedgerResult['outcome'], string>> = {
  succeeded: '',
  failed: 'failed, ',
  outcome_unknown: 'outcome unknown, ',
  not_run: 'not run, ',
};

function ledgerLine({ tool, target, outcome, characters, entryId }: LedgerResult, recall: boolean): string {
  const call = target === '' ? tool : `${tool} ${target}`;
  return `${call}: ${OUTCOMES[outcome]}${formatCount(characters)} characters${recall ? ` (${entryId})` : ''}`;
}

/** The summary as the view shows it: one message of the user, or a question with its answer (seeds/opencode.md). */
export function summaryMessages(text: string, question: string | null, framing?: SummaryFraming): ViewMessage[] {
  if (question === null) return [{ role: 'user', content: summaryContent(text, framing), origin: 'summary' }];
  return [
    { role: 'user', content: [{ type: 'text', text: question }], origin: 'summary' },
    { role: 'assistant', content: [{ type: 'text', text }], callNumber: 0, turnId: '' },
  ];
}

/** A message of the user that says so, or the answer to a question that nobody asked: it belongs to no turn (R33). */
export function isSummaryMessage(message: ViewMessage): boolean {
  if (message.role === 'assistant') return message.turnId === '';
  return message.role === 'user' && message.origin === 'summary';
}

export function measureSummary(text: string, question: string | null, framing?: SummaryFraming): Measurements {
  const shown = summaryMessages(text, question, framing);
  return sumMeasurements(shown.map((each) => measureContent('content' in each ? each.content : [])));
}

/**
 * The words around a summary unless its preset has its own. They tell the model that the text is a
 * record and not a request, and that requests shown again below it may be done already, so that
 * nothing is answered twice (R17).
 */
export const DEFAULT_FRAMING: SummaryFraming = {
  opening:
    `${LINES.summary}\n` +
    'Older messages were taken out to make room. This summary stands for them; trust its facts instead of redoing work.',
  closing:
    `${LINES.summaryEnd}\n` +
    'User messages right before and after this may be older ones, repeated word for word: the request and outcome pairs tell ' +
    'which are done. Answer only what is still open. What the user said last counts.',
};

/**
 * The same with the way back: the words for a piece that no placeholder stands for. Written
 * with the plan, so that what an earlier pass shows never changes.
 */
function framingWithRecall(newestEntryId: string): SummaryFraming {
  const wayBack = `Every original is kept: recall_search finds it, recall_open shows it by its id; the newest that was taken out is ${newestEntryId}.`;
  return { ...DEFAULT_FRAMING, opening: `${DEFAULT_FRAMING.opening} ${wayBack}` };
}

export function summaryContent(text: string, framing: SummaryFraming = DEFAULT_FRAMING): readonly ContentPart[] {
  const { opening, closing } = framing;
  const marks = [opening, closing].flatMap((words) => words.split('\n', 1));
  const blocks = [opening, quoteLines(text, marks), closing];
  return [{ type: 'text', text: blocks.filter((block, index) => index === 1 || block !== '').join('\n\n') }];
}

/**
 * The words around a summary of a form.
 *
 * @param newestEntryId newest entry that leaves the view, when the agent can open it again; else `null`
 */
export function summaryFraming(
  { summary }: CompactionPolicy,
  form: SummaryForm,
  newestEntryId: string | null,
): SummaryFraming {
  const framing = summary.framing ?? (newestEntryId === null ? DEFAULT_FRAMING : framingWithRecall(newestEntryId));
  if (form !== 'extractive_summary' || summary.extractOpening === null) return framing;
  return { ...framing, opening: summary.extractOpening };
}
