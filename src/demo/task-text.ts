import { columnsOf } from './job.ts';
import type { AskedFact, Job, JobItem } from './job.ts';

export const REPORT_PATH = 'report.md';

/** The task as a user would write it. @param options.recall whether the agent has the recall tools */
export function taskText(job: Job, options: { readonly recall: boolean }): string {
  const { noun, items } = job;
  const shared = sharedFacts(job);
  const columns = columnsOf(job);
  const paragraphs = [
    `Work through ${items.length} ${job.description}, one file after another, and write what you find to ${REPORT_PATH}.`,
    [`For each ${noun}, note:`, ...columns.map((column) => factLine(column, shared.get(column), noun))].join('\n'),
    ...job.remarks,
    [
      items.some((item) => !isPlain(item)) ? `These are the ${noun}s and their files:` : `These are the ${noun}s:`,
      ...items.map((item) => itemLine(item, shared)),
    ].join('\n'),
    `Read every file to its end with read_file, one call at a time and in this order. Then write ${REPORT_PATH}: one table ` +
      `with a row per ${noun} and the columns item, ${columns.join(', ')}. The first cell is the name before the colon. ` +
      'Copy values exactly as they stand in the files; where you could not find one, write "unknown", never a guess.',
    ...(options.recall ? ['What you can no longer see you can find again with recall_search and recall_open.'] : []),
    `When all ${items.length} rows are written, answer with one sentence.`,
  ];
  return paragraphs.join('\n\n');
}

/** Facts that are asked of every item in the same words. */
function sharedFacts(job: Job): ReadonlyMap<string, AskedFact> {
  const [first, ...rest] = job.items;
  const isShared = (fact: AskedFact): boolean =>
    rest.every((item) => item.facts.some((other) => other.column === fact.column && other.words === fact.words));
  return new Map((first?.facts ?? []).filter(isShared).map((fact) => [fact.column, fact]));
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
