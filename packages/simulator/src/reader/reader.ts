import { isAnswered, newestUserText, type ConversationEvent } from '../agents/conversation.ts';
import { summariesIn } from '../agents/summaries.ts';
import type { Draft } from '../core/answer.ts';
import type { Random } from '../core/random.ts';
import type { SimulatorRequest } from '../core/request.ts';
import { gatherKnowledge, pathOf, type Knowledge } from './knowledge.ts';
import { isRead } from './known-facts.ts';
import { nextPart } from './lookups.ts';
import { parseReadingTask, type Item, type ReadingTask } from './reading-task.ts';
import { CONTINUED, largestPart, nextRows, reportHead, reportState, rowOf } from './report.ts';
import { findTools, type ToolKit } from './tool-kit.ts';

/** Everything that one answer of the reader depends on. */
interface Reading {
  readonly request: SimulatorRequest;
  readonly task: ReadingTask;
  readonly events: readonly ConversationEvent[];
  readonly knowledge: Knowledge;
  readonly tools: ToolKit;
  readonly random: Random;
}

/**
 * The reader's next step; `undefined` when the conversation holds no reading task, or one that was answered.
 * It reads the files in the task's order, one call an answer, and then writes the report part by part. When its
 * context was shortened while it worked and nothing tells it to go on, it takes what it has for the whole and reports early.
 */
export function readDraft(
  request: SimulatorRequest,
  events: readonly ConversationEvent[],
  random: Random,
): Draft | undefined {
  const tools = findTools(request.tools);
  const assignment = newestUserText(events, (text) => parseReadingTask(text, request.system) !== undefined);
  const task = assignment === undefined ? undefined : parseReadingTask(assignment.text, request.system);
  if (assignment === undefined || task === undefined || !tools.reads || isAnswered(assignment.since)) return undefined;
  const knowledge = gatherKnowledge(events, task.reportPath);
  const reading: Reading = { request, task, events, knowledge, tools, random };
  return (stopsEarly(reading) ? undefined : readNext(reading)) ?? writeNext(reading);
}

/** Whether what was shortened was work on this task: a context that lost nothing of it is no reason to think that it is done. */
function stopsEarly({ task, knowledge, events }: Reading): boolean {
  if (!knowledge.shortened || knowledge.toldToGoOn) return false;
  const isOfTask = (text: string): boolean =>
    task.items.some(({ label, files }) => text.includes(label) || files.some((path) => text.includes(path)));
  return summariesIn(events).some(isOfTask) || lostFiles(task, knowledge);
}

/** Files are read in order: one that is not in view, or empty, before one that is, was taken out. */
function lostFiles(task: ReadingTask, knowledge: Knowledge): boolean {
  const files = task.items.flatMap((item) => item.files).map((path) => knowledge.files.get(path));
  const last = files.findLastIndex((file) => file !== undefined);
  return files.slice(0, last + 1).some((file) => file === undefined || (file.read && file.segments.length === 0));
}

/** The file that comes next, or the next page of the one begun. */
function readNext({ task, knowledge, events, random }: Reading): Draft | undefined {
  if (reportBegun(task, events, knowledge)) return undefined;
  const files = task.items.flatMap((item) => item.files.map((path) => ({ item, path })));
  const done = readUpTo(files, knowledge);
  const position = files.findIndex(({ item, path }, index) => index >= done && !isRead(knowledge, item, path));
  const next = files[position];
  if (next === undefined) return undefined;
  const place = `${position + 1} of ${files.length}`;
  const more = knowledge.files.get(next.path)?.next;
  const text =
    more === undefined
      ? random.pick([
          `Reading file ${place}: ${next.path}.`,
          `File ${place} is ${next.path}.`,
          `Next, ${next.path} (${place}).`,
        ])
      : random.pick([`${next.path} goes on; reading the rest (${place}).`, `More of ${next.path} (${place}).`]);
  return { text, calls: [{ name: 'read_file', arguments: { path: next.path, ...more } }] };
}

/**
 * How many files lie behind: they are read in order, so a file that was read tells that those before it were,
 * also when a shortened context shows nothing of them.
 */
function readUpTo(files: readonly { item: Item; path: string }[], knowledge: Knowledge): number {
  if (!knowledge.shortened) return 0;
  return Math.max(
    0,
    files.findLastIndex(({ item, path }) => knowledge.files.has(path) || isRead(knowledge, item, path)),
  );
}

function reportBegun(task: ReadingTask, events: readonly ConversationEvent[], knowledge: Knowledge): boolean {
  return (
    (knowledge.memory.rows?.length ?? 0) > 0 ||
    events.some((event) => event.kind === 'call' && event.name !== 'read_file' && pathOf(event) === task.reportPath)
  );
}

/** Looks up what is missing for the next rows, writes them, and says so when all are written. */
function writeNext(reading: Reading): Draft {
  const { request, task, knowledge, tools, events, random } = reading;
  const items = itemsToReport(reading);
  const report = reportState(task, events, knowledge);
  if (needsLook(report, reading)) return lookAtReport(reading);
  const labels = report.labels ?? [];
  const missing = items.filter((item) => !labels.includes(item.label));
  if (missing.length === 0 && (labels.length > 0 || items.length === 0)) return finish(reading, items, labels);
  const part = missing.slice(0, largestPart(request.model.window));
  const { lookups, ready } = nextPart(task, part, knowledge, tools, request.model.window);
  if (lookups.length > 0) {
    const text = random.pick([
      'Some facts are no longer in view; I look them up.',
      'I look up what my context no longer holds.',
    ]);
    return { text, calls: lookups };
  }
  const rows = nextRows(
    ready.map((item) => rowOf(task, item, knowledge)),
    request.maximumOutput,
  );
  const isLast = missing.length === rows.length;
  return writePart(reading, rows, labels.length === 0, isLast);
}

/** All items, or those whose files were read when the reader stops early. */
function itemsToReport(reading: Reading): readonly Item[] {
  const { task, knowledge } = reading;
  if (!stopsEarly(reading)) return task.items;
  const files = task.items.flatMap((item) => item.files.map((path) => ({ item, path })));
  const done = readUpTo(files, knowledge);
  const behind = new Set(
    files
      .slice(0, done + 1)
      .filter(({ item, path }, index) => index < done || isRead(knowledge, item, path))
      .map(({ path }) => path),
  );
  return task.items.filter((item) => item.files.every((path) => behind.has(path) || isRead(knowledge, item, path)));
}

/** Whether only the file can tell which rows are written. */
function needsLook(
  { labels, doubtful }: { labels: readonly string[] | undefined; doubtful: boolean },
  { knowledge }: Reading,
): boolean {
  return doubtful || (labels === undefined && knowledge.shortened);
}

function lookAtReport({ task, random }: Reading): Draft {
  const text = random.pick([
    `I check what ${task.reportPath} holds.`,
    `Let me see which rows ${task.reportPath} has already.`,
  ]);
  return { text, calls: [{ name: 'read_file', arguments: { path: task.reportPath } }] };
}

function writePart(
  { task, tools, random }: Reading,
  rows: readonly string[],
  isFirst: boolean,
  isLast: boolean,
): Draft {
  const { write, edits } = tools;
  const body = `${rows.join('\n')}\n`;
  const text = random.pick([
    `Writing ${rows.length} rows to ${task.reportPath}.`,
    `${rows.length} rows go into ${task.reportPath}.`,
  ]);
  if (write === undefined) return { text: `${isFirst ? reportHead(task) : ''}${body}`, calls: [] };
  const path = task.reportPath;
  const marker = write.appends || isLast ? '' : `${CONTINUED}\n`;
  if (isFirst)
    return {
      text,
      calls: [{ name: 'write_file', arguments: { path, content: `${reportHead(task)}${body}${marker}` } }],
    };
  if (write.appends || !edits)
    return { text, calls: [{ name: 'write_file', arguments: { path, content: body, append: true } }] };
  const change = { path, old_text: `${CONTINUED}\n`, new_text: `${body}${marker}` };
  return { text, calls: [{ name: 'edit_file', arguments: change }] };
}

function finish({ task, tools, random }: Reading, items: readonly Item[], labels: readonly string[]): Draft {
  if (tools.write === undefined && labels.length === 0) return { text: 'There is nothing to report.', calls: [] };
  const written = labels.filter((label) => task.items.some((item) => item.label === label)).length;
  const opening = random.pick(['The report is done', 'All rows are written', 'Finished']);
  return {
    text: `${opening}: ${task.reportPath} holds ${written} of ${task.items.length} items${items.length < task.items.length ? ', those that I read' : ''}.`,
    calls: [],
  };
}
