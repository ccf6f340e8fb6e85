import { columnsOf } from './job.ts';
import type { AskedFact, Job, JobItem } from './job.ts';

export const REPORT_PATH = 'report.md';

/**
 * What the agent is and what it looks for in every file. It stands in the agent's instructions, not in the task, because
 * these are told to whoever summarizes a part of a long conversation, where the task itself is far away.
 */
export function instructionsText(job: Job): string {
  const shared = sharedFacts(job);
  const columns = columnsOf(job);
  const paragraphs = [
    'You are a careful reader. You work through files one after another and report what they say. You never guess: ' +
      'every value in a report is copied from a file. Work until the whole task is done, whatever it takes.',
    [`For each ${job.noun}, note:`, ...columns.map((column) => factLine(column, shared.get(column), job.noun))].join(
      '\n',
    ),
    ...job.remarks,
  ];
  return paragraphs.join('\n\n');
}

/** The task as a user would write it. */
export function taskText(job: Job): string {
  const { noun, items } = job;
  const shared = sharedFacts(job);
  const list = items.some((item) => !isPlain(item))
    ? `These are the ${noun}s and their files:`
    : `These are the ${noun}s:`;
  const paragraphs = [
    `Work through ${items.length} ${job.description}, one file after another, and write what you find to ${REPORT_PATH}.`,
    [list, ...items.map((item) => itemLine(item, shared))].join('\n'),
    `Read every file to its end with read_file, one call at a time and in this order. Then write ${REPORT_PATH}: one table ` +
      `with a row per ${noun} and the columns item, ${columnsOf(job).join(', ')}. The first cell is the name before the colon. ` +
      'Copy values exactly as they stand in the files; where you could not find one, write "unknown", never a guess.',
    'What you can no longer see you can find again with recall_search and recall_open.',
    `When all ${items.length} rows are written, answer with one sentence.`,
  ];
  return paragraphs.join('\n\n');
}

/**
 * Facts that are asked in the same words of every item. An item that lacks one, because its file leaves
 * room for doubt, is asked too, and the answer not checked.
 */
function sharedFacts(job: Job): ReadonlyMap<string, AskedFact> {
  const shared = new Map<string, AskedFact>();
  for (const column of columnsOf(job)) {
    const facts = job.items.flatMap((item) => item.facts.filter((fact) => fact.column === column));
    const [first] = facts;
    const isShared = facts.length > 1 || job.items.length === 1;
    if (first !== undefined && isShared && facts.every((fact) => fact.words === first.words)) shared.set(column, first);
  }
  return shared;
}

function factLine(column: string, shared: AskedFact | undefined, noun: string): string {
  return shared === undefined
    ? `- ${column}: what is asked in the line of the ${noun}`
    : `- ${column}: ${shared.words}`;
}

/** `- hono: hono/package.json, hono/README.md; figure: the number after "…" in README.md` */
function itemLine(item: JobItem, shared: ReadonlyMap<string, AskedFact>): string {
  const own = item.facts.filter((fact) => shared.get(fact.column) === undefined);
  const head = isPlain(item) ? item.label : `${item.label}: ${item.files.map((file) => file.path).join(', ')}`;
  return `- ${[head, ...own.map((fact) => `${fact.column}: ${fact.words}`)].join('; ')}`;
}

/** An item that is a file, and named like it. */
function isPlain(item: JobItem): boolean {
  return item.files.length === 1 && item.files[0]?.path === item.label;
}
