import type { Conversation, LateResult, ListedEntry, TurnSummary } from '../../../client/types.ts';
import { conversationState } from './conversation-list.ts';
import { formatBytes, formatCount, plural } from '../text/numbers.ts';
import { turnFigures } from '../turn/outcome-words.ts';
import { safeLine, safeText } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { displayWidth, truncate, wrapWords } from '../text/text-width.ts';
import { shortArguments } from '../turn/tool-arguments.ts';
import { describeContent } from './entry-words.ts';
import { decideLines, waitingCallWords } from '../turn/waiting-call.ts';
import { workerNeedNotice } from '../turn/waits.ts';

export interface EntryListOptions {
  readonly columns: number | null;
  readonly style: Style;
  /** Whole contents instead of their first lines. */
  readonly full: boolean;
  /** Id of an entry that is shown whole and set off by an arrow; a compaction's stands for its marker. */
  readonly marked?: string;
}

const SHOWN_LINES = 4;
const PIPE_COLUMNS = 160;

export interface ConversationHeadOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly activeEntryCount: number;
  readonly columns: number | null;
  readonly style: Style;
}

/** Who, how and how much: the head of `show`. */
export function conversationHeadLines(
  conversation: Conversation,
  { activeEntryCount, columns, style, now }: ConversationHeadOptions,
): string[] {
  const { entryCount } = conversation;
  const wrapped = (text: string): string[] => wrapWords(text, columns);
  const { turn, waitingMessages, workerNeed } = conversation;
  return [
    ...wrapped(safeLine(conversation.title)).map(style.bold),
    style.dim(`conversation ${conversation.conversationId}`),
    ...wrapped(
      [
        conversationState(conversation),
        `agent ${safeLine(conversation.agent)}`,
        ...(conversation.user === null ? [] : [`user ${safeLine(conversation.user)}`]),
        ...(conversation.model === null ? [] : [safeLine(conversation.model)]),
        plural(entryCount, 'entry', 'entries'),
        ...(activeEntryCount === entryCount ? [] : [`${formatCount(activeEntryCount)} on the active branch`]),
        ...(waitingMessages === 0 ? [] : [`${plural(waitingMessages, 'message')} waiting`]),
      ].join(' · '),
    ),
    ...(workerNeed === null ? [] : wrapped(workerNeedNotice(workerNeed)).map(style.yellow)),
    ...conversation.waitingCalls.flatMap((call) => wrapped(waitingCallWords(call, now)).map(style.yellow)),
    ...decideLines(conversation),
    ...(conversation.secretsRedacted === 0 ? [] : wrapped(redactionWords(conversation.secretsRedacted)).map(style.dim)),
    ...(turn === null ? [] : wrapped(`last turn: ${turnFigures(turn)}`).map(style.dim)),
    ...(turn?.givenUp ?? []).map(givenUpWords).flatMap(wrapped).map(style.yellow),
    ...(turn?.explanation == null || turn.outcome === 'completed' ? [] : wrapped(turn.explanation).map(style.yellow)),
  ];
}

function givenUpWords({ model, callNumber, reason }: TurnSummary['givenUp'][number]): string {
  return `gave ${safeLine(model)} up at model call ${callNumber} (${safeLine(reason)}) and went on with a fallback`;
}

function redactionWords(count: number): string {
  return `${plural(count, 'secret')} replaced in summaries and what they were made from; the originals have them`;
}

/** Entries with their ids and the beginning of what they say. */
export function entryListLines(entries: readonly ListedEntry[], options: EntryListOptions): string[] {
  return entries.flatMap((entry) => {
    const marked = options.marked?.toLowerCase();
    const isMarked = marked !== undefined && (entry.entryId === marked || entry.compactionId === marked);
    const head = headLine(entry, options);
    const shown = isMarked ? { ...options, full: true } : options;
    return [
      '',
      isMarked ? `→ ${head}` : head,
      ...contentLines(entry, shown),
      ...callLines(entry, shown),
      ...lateResultLines(entry.lateResults, options),
    ];
  });
}

function headLine(entry: ListedEntry, { style, columns }: EntryListOptions): string {
  const original = entry.originalBytes === null ? '' : `  original ${formatBytes(entry.originalBytes)}`;
  const title = `${formatCount(entry.sequence)} ${entryTitle(entry)}`;
  const rest = columns !== null && columns < title.length + entry.entryId.length + original.length + 4 ? '' : original;
  const paint = entry.isError ? style.red : entry.kind === 'user' ? style.cyan : style.bold;
  return `${paint(title)}${rest}  ${style.dim(entry.entryId)}`;
}

function entryTitle(entry: ListedEntry): string {
  switch (entry.kind) {
    case 'user':
      return 'user';
    case 'assistant':
      return 'assistant';
    case 'tool_result':
      return `${entry.isError ? 'error' : 'result'} of ${callNumber(entry, entry.callIndex)}${safeLine(entry.toolName ?? 'a tool')}`;
    case 'compaction':
      return 'compaction';
    case 'branch_summary':
      return 'branch summary';
    case 'note':
      return `note: ${safeLine(entry.slot ?? '')}`;
  }
}

/** `2.0 ` for the first call of the turn's second answer, which the call and its result both show. */
function callNumber({ callNumber: answer }: Pick<ListedEntry, 'callNumber'>, index: number | null): string {
  return answer === null || index === null ? '' : `${answer}.${index} `;
}

/** What attempts reported after the call had its result: for people, the model does not see it. */
export function lateResultLines(results: readonly LateResult[], options: EntryListOptions): string[] {
  const { style } = options;
  return results.flatMap((late) => [
    style.yellow(
      `  late ${late.isError ? 'error' : 'result'} of attempt ${late.attempt}, ${late.receivedAt}, worker ${safeLine(late.workerIdentity)}; not in the view`,
    ),
    ...contentLines(late, options).map((line) => `  ${line}`),
  ]);
}

function contentLines(entry: Pick<ListedEntry, 'content'>, { columns, full, style }: EntryListOptions): string[] {
  const width = (columns ?? PIPE_COLUMNS) - 2;
  const text = safeText(describeContent(entry)).trimEnd();
  const lines = text === '' ? [] : text.split('\n');
  const shown = full || lines.length <= SHOWN_LINES + 1 ? lines : lines.slice(0, SHOWN_LINES);
  const rest = lines.length - shown.length;
  return [
    ...shown.map((line) => `  ${full ? line : truncate(line, width)}`),
    ...(rest > 0 ? [style.dim(`  … ${plural(rest, 'more line')}`)] : []),
  ];
}

function callLines(entry: ListedEntry, { columns, full }: EntryListOptions): string[] {
  return entry.content.flatMap((part) => {
    if (part.type !== 'tool_call') return [];
    const head = `  → ${callNumber(entry, part.index)}${safeLine(part.name)} `;
    const room = Math.max(8, (columns ?? PIPE_COLUMNS) - displayWidth(head));
    return [`${head}${full ? safeText(part.arguments) : shortArguments(part.arguments, room)}`];
  });
}
