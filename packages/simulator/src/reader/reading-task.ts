import { parseColumn, parseFact, type Fact } from './fact-question.ts';

/** One row of the report: a name and the files that tell about it. */
export interface Item {
  readonly label: string;
  readonly files: readonly string[];
  /** Facts asked of this item only, or in other words than of the rest. */
  readonly facts: readonly Fact[];
}

/** A reading task: files to work through one by one, facts to note, a report to write. */
export interface ReadingTask {
  readonly items: readonly Item[];
  /** Facts asked of every item, in the order of the report's columns. */
  readonly facts: readonly Fact[];
  readonly reportPath: string;
}

const FACTS_HEADING =
  /(?:^|[.!?;] +)(?:for|about|of) (?:each|every|all)\b[^\n]*?\b(?:note|report|find|give|write down|look up|collect|record|tell)\b[^\n:]*:\s*(.*)$/i;
const LIST_LINE = /^\s*(?:[-*•]|\d{1,4}[.)])\s+(.+)$/;
const REPORT = /\b(?:write|save|create|put|report)\b[^\n]{0,120}?`?([\w][\w./-]*\.(?:md|txt|markdown))\b`?/gi;
const DEFAULT_REPORT = 'report.md';

/**
 * Reads a task in the grammar of the README; `undefined` for a text that names no files or asks for no facts.
 * @param system the system prompt, where the facts may stand as well
 */
export function parseReadingTask(text: string, system: string): ReadingTask | undefined {
  const facts = parseFacts(text);
  const shared = facts.length > 0 ? facts : parseFacts(system);
  const items = parseItems(text);
  if (items.length === 0) return undefined;
  const isAsked = shared.some((fact) => fact.question.kind !== 'own_words');
  if (!isAsked && items.every((item) => item.facts.length === 0)) return undefined;
  const reportPath = reportPathOf(text, items) ?? reportPathOf(system, items) ?? DEFAULT_REPORT;
  return { items, facts: shared, reportPath };
}

function reportPathOf(text: string, items: readonly Item[]): string | undefined {
  const read = new Set(items.flatMap((item) => item.files));
  return [...text.matchAll(REPORT)].map((match) => match[1]).find((path) => path !== undefined && !read.has(path));
}

/** Facts: the list lines under "For each file, note:", or what follows the colon in the same line. */
export function parseFacts(text: string): readonly Fact[] {
  const facts: Fact[] = [];
  let inside = false;
  for (const line of text.split('\n')) {
    const heading = FACTS_HEADING.exec(line.trim());
    if (heading !== null) {
      inside = true;
      facts.push(...splitOutsideQuotes(heading[1] ?? '').flatMap((part) => parseShared(part.replace(/^and /i, ''))));
      continue;
    }
    const entry = LIST_LINE.exec(line)?.[1];
    if (inside && entry !== undefined) facts.push(...parseShared(entry));
    else if (inside && line.trim() !== '') inside = false;
  }
  return facts;
}

function parseShared(text: string): readonly Fact[] {
  const fact = parseFact(text) ?? parseColumn(text);
  return fact === undefined ? [] : [fact];
}

/** Parts between semicolons and commas that stand outside quotes and brackets. */
export function splitOutsideQuotes(text: string, separators = ',;'): string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quoted && character === '\\') {
      part += character + text.charAt(index + 1);
      index += 1;
      continue;
    }
    if (character === '"') quoted = !quoted;
    if (!quoted && character === '(') depth += 1;
    if (!quoted && character === ')') depth -= 1;
    if (!quoted && depth <= 0 && separators.includes(character)) {
      parts.push(part.trim());
      part = '';
    } else part += character;
  }
  return [...parts, part.trim()].filter((each) => each !== '');
}

/** Lines of a summary that name files without asking anything of them. */
const SUMMARY_LINE = /^(?:rows in \S+|File|Identifier|User|Outcome unknown): /;

/** Items: list lines outside the facts that name at least one file. */
function parseItems(text: string): readonly Item[] {
  const items: Item[] = [];
  let inFacts = false;
  for (const line of text.split('\n')) {
    const entry = LIST_LINE.exec(line)?.[1];
    if (FACTS_HEADING.test(line.trim())) inFacts = true;
    else if (entry === undefined && line.trim() !== '') inFacts = false;
    if (entry === undefined || inFacts || SUMMARY_LINE.test(entry)) continue;
    const item = parseItem(entry);
    if (item !== undefined) items.push(item);
  }
  return items;
}

const PATH = /^[\w.@~+][\w.@~+/-]*$/;

function isPath(text: string): boolean {
  return PATH.test(text) && (text.includes('/') || /\.[a-z0-9]{1,10}$/i.test(text));
}

/** `label: path, path; name: words`; the label defaults to the first path. */
function parseItem(entry: string): Item | undefined {
  const [head = '', ...rest] = splitOutsideQuotes(entry, ';');
  const labelled = /^(?:\*\*)?`?([^:`*]+?)`?(?:\*\*)?:\s+(.+)$/.exec(head);
  const label = labelled?.[1]?.trim();
  const names = (labelled?.[2] ?? head).replace(/`/g, '');
  const files = splitOutsideQuotes(names.replace(/ and /g, ', ')).map((name) => name.replace(/[.]$/, '').trim());
  if (files.length === 0 || !files.every((file) => isPath(file))) return undefined;
  return { label: label ?? files[0] ?? '', files, facts: rest.flatMap((part) => parseFact(part) ?? []) };
}

/** What is asked of one item: the shared facts, each in the item's own words where it has some. */
export function factsOf(task: ReadingTask, item: Item): readonly Fact[] {
  const shared = task.facts
    .map((fact) => item.facts.find((own) => own.name === fact.name) ?? fact)
    .filter((fact) => fact.question.kind !== 'own_words');
  return [...shared, ...item.facts.filter((own) => !task.facts.some((fact) => fact.name === own.name))];
}

/** Columns of the report: every fact's name once. */
export function columnsOf(task: ReadingTask): readonly string[] {
  const own = task.items.flatMap((item) => item.facts.map((fact) => fact.name));
  return [...new Set([...task.facts.map((fact) => fact.name), ...own])];
}

/** The file of an item in which a fact stands; all of them when the task does not say. */
export function filesOfFact(item: Item, fact: Fact): readonly string[] {
  const { file } = fact;
  if (file === undefined) return item.files;
  const matching = item.files.filter((path) => isNamed(path, file));
  return matching.length > 0 ? matching : item.files;
}

/** Whether a path is what the task calls `package.json`, `README` or `the manifest`. */
export function isNamed(path: string, name: string): boolean {
  const wanted = name.toLowerCase();
  const base = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (path.toLowerCase() === wanted || base === wanted || base.startsWith(`${wanted}.`)) return true;
  return wanted === 'manifest' && /^package\.json$|\.toml$/.test(base);
}
