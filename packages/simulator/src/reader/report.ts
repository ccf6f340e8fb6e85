import { stringArgument, type CallEvent, type ConversationEvent } from '../agents/conversation.ts';
import { parseFilePage } from './file-text.ts';
import { knownFact } from './known-facts.ts';
import { isFailure, pathOf, type Knowledge } from './knowledge.ts';
import { columnsOf, factsOf, type Item, type ReadingTask } from './reading-task.ts';

/** What stands in a cell when the context does not tell, and when the file has no such thing. */
const CELLS = { unknown: 'unknown', absent: '–' } as const;

/** Stands at the end of an unfinished report when parts can only be added by an edit. */
export const CONTINUED = '_More rows follow._';

/** Longest part of a report, as a fraction of the longest answer. */
const PART_OF_OUTPUT = 0.5;

/** Rows of the longest part. */
const MOST_ROWS = 25;

/** Characters of one token in a table, at the least. */
const CHARACTERS_PER_TOKEN = 2.5;

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((text) => cell(text)).join(' | ')} |`;
}

/** One row: the item's name and every column, "unknown" where the context does not tell. */
export function rowOf(task: ReadingTask, item: Item, knowledge: Knowledge): string {
  const facts = factsOf(task, item);
  const values = columnsOf(task).map((name) => {
    const fact = facts.find((each) => each.name === name);
    if (fact === undefined) return isAskedOfAnother(task, name) ? CELLS.absent : CELLS.unknown;
    const finding = knownFact(knowledge, item, fact);
    return finding.state === 'found' ? finding.value : CELLS[finding.state];
  });
  return row([item.label, ...values]);
}

/** A column that other items fill is none of this one's; one that nobody explains cannot be known. */
function isAskedOfAnother(task: ReadingTask, name: string): boolean {
  return task.items.some((item) => item.facts.some((fact) => fact.name === name));
}

/** Title and header of the table. */
export function reportHead(task: ReadingTask): string {
  const columns = ['item', ...columnsOf(task)];
  return `# Report\n\n${row(columns)}\n${row(columns.map(() => '---'))}\n`;
}

/** The rows that the next part of the report holds: as many as the answer may take. */
export function nextRows(rows: readonly string[], maximumOutput: number): readonly string[] {
  let left = maximumOutput * PART_OF_OUTPUT * CHARACTERS_PER_TOKEN;
  const part: string[] = [];
  for (const text of rows.slice(0, MOST_ROWS)) {
    // JSON escapes line ends and quotes; one row always goes, or the report would never end.
    left -= JSON.stringify(text).length;
    if (left < 0 && part.length > 0) break;
    part.push(text);
  }
  return part;
}

/** Items that a part may hold at most, before their rows are known. */
export function largestPart(window: number): number {
  return Math.max(2, Math.min(MOST_ROWS, Math.floor(window / 2048)));
}

/** The report as the request shows it: labels of the rows that are written; `undefined` when nothing tells. */
export interface ReportState {
  readonly labels: readonly string[] | undefined;
  /** The newest write failed, or nobody knows whether it took effect; or only a summary tells, and it may lack what was written last. */
  readonly doubtful: boolean;
}

/** Follows the report's file through the events: written, added to, read again. */
export function reportState(
  task: ReadingTask,
  events: readonly ConversationEvent[],
  knowledge: Knowledge,
): ReportState {
  let labels: readonly string[] | undefined = knowledge.memory.rows;
  let onlyRemembered = labels !== undefined && labels.length > 0;
  let doubtful = false;
  for (const event of events) {
    if (event.kind !== 'call' || event.result === undefined) continue;
    // Clipped to one string, perhaps without its path: only the file itself can tell what it wrote.
    if (stringArgument(event, 'clipped') !== undefined && event.name !== 'read_file') labels = undefined;
    if (pathOf(event) !== task.reportPath) continue;
    const isReading = event.name === 'read_file';
    if (isFailure(event)) {
      // A file that cannot be read is not there yet; a write that failed may have been made all the same.
      if (isReading) {
        labels = labels ?? [];
        onlyRemembered = false;
      }
      doubtful = !isReading;
      continue;
    }
    doubtful = false;
    if (isReading || replacesFile(event)) onlyRemembered = false;
    labels = isReading ? labelsRead(event, labels) : labelsWritten(event, labels);
  }
  return { labels, doubtful: doubtful || onlyRemembered };
}

function labelsRead(call: CallEvent, before: readonly string[] | undefined): readonly string[] {
  const page = parseFilePage(call.result?.text ?? '', undefined);
  if (page.cleared) return before ?? [];
  const offset = call.arguments['offset'];
  const shown = labelsIn(page.segments.map((segment) => segment.text).join('\n'));
  return typeof offset === 'number' && offset > 1 ? [...(before ?? []), ...shown] : shown;
}

function labelsWritten(call: CallEvent, before: readonly string[] | undefined): readonly string[] | undefined {
  const written = stringArgument(call, 'content') ?? stringArgument(call, 'new_text');
  const shown = labelsIn(written ?? '');
  // Clipped arguments have lost rows: only the file itself can tell.
  if (written === undefined || /\bcharacters (?:omitted|left out)\b/.test(written)) return undefined;
  return replacesFile(call) ? shown : before === undefined ? undefined : [...before, ...shown];
}

function replacesFile(call: CallEvent): boolean {
  return call.name === 'write_file' && call.arguments['append'] !== true;
}

/** First cells of a table's rows, without header and rule. */
function labelsIn(text: string): readonly string[] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  const labels = rows.map((line) => /^\| ((?:[^|\\]|\\.)*?) \|/.exec(line)?.[1]?.replaceAll('\\|', '|') ?? '');
  return labels.filter((label) => label !== '' && label !== '---' && label !== 'item');
}
