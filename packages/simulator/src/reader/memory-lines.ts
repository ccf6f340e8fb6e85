import { splitOutsideQuotes, type Item } from './reading-task.ts';

/** What a summary says of one item: facts, and which of its files were read. */
export interface Memory {
  readonly label: string;
  /** Values by the fact's name. */
  readonly facts: ReadonlyMap<string, string>;
  /** Files read to the end; `'all'` for every file of the item. */
  readonly read: readonly string[] | 'all';
}

/** What summaries say of the whole task. */
export interface SummaryMemory {
  readonly items: readonly Memory[];
  /** Rows that stand in the report, by label; `undefined` when no summary speaks of the report. */
  readonly rows: readonly string[] | undefined;
}

/** `- hono: version = "4.13.19"; licence = "MIT"; read: a/package.json, a/README.md`, or `; read` for all files. */
export function formatMemory(memory: Memory): string {
  const facts = [...memory.facts].map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const read = memory.read === 'all' ? ['read'] : memory.read.length > 0 ? [`read: ${memory.read.join(', ')}`] : [];
  return `- ${memory.label}: ${[...facts, ...read].join('; ')}`;
}

const FACT = /^([\w][\w /-]{0,40}?) = ("(?:[^"\\]|\\.)*")$/;

/** One line of a summary; `undefined` for a line that speaks of something else. */
function parseMemory(line: string): Memory | undefined {
  const match = /^\s*[-*] (.+?): (.+)$/.exec(line);
  const label = match?.[1];
  const rest = match?.[2];
  if (label === undefined || rest === undefined) return undefined;
  const facts = new Map<string, string>();
  let read: Memory['read'] = [];
  for (const part of splitOutsideQuotes(rest, ';')) {
    const fact = FACT.exec(part);
    const files = /^read(?:: (.+))?$/.exec(part);
    if (fact?.[1] !== undefined && fact[2] !== undefined) facts.set(fact[1], String(JSON.parse(fact[2])));
    else if (files !== null) read = files[1] === undefined ? 'all' : splitOutsideQuotes(files[1]);
    else return undefined;
  }
  return { label, facts, read };
}

/** `- rows in report.md: hono, zod`. */
export function formatRows(reportPath: string, labels: readonly string[]): string {
  return `- rows in ${reportPath}: ${labels.length === 0 ? 'none yet' : labels.join(', ')}`;
}

/** Everything that summaries tell a reader, newer lines over older ones. */
export function readSummaries(texts: readonly string[], reportPath: string): SummaryMemory {
  const items = new Map<string, Memory>();
  let rows: string[] | undefined;
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const written = /^\s*[-*] rows in (\S+): (.*)$/.exec(line);
    if (written !== null && written[1] === reportPath)
      rows = written[2] === 'none yet' ? [] : splitOutsideQuotes(written[2] ?? '');
    const memory = parseMemory(line);
    if (memory !== undefined) items.set(memory.label, mergeMemories(items.get(memory.label), memory));
  }
  return { items: [...items.values()], rows };
}

function mergeMemories(old: Memory | undefined, now: Memory): Memory {
  if (old === undefined) return now;
  const read = old.read === 'all' || now.read === 'all' ? 'all' : [...new Set([...old.read, ...now.read])];
  return { label: now.label, facts: new Map([...old.facts, ...now.facts]), read };
}

/** Lines that name a file instead of its item (the summarizer did not see the list) become part of the item's memory. */
export function foldIntoItems(items: readonly Item[], memories: readonly Memory[]): readonly Memory[] {
  const folded = new Map<string, Memory>();
  for (const memory of memories) {
    const item =
      items.find((each) => each.label === memory.label) ?? items.find((each) => each.files.includes(memory.label));
    const label = item?.label ?? memory.label;
    const isFile = item !== undefined && item.label !== memory.label;
    const read = isFile && memory.read === 'all' ? [memory.label] : memory.read;
    folded.set(label, mergeMemories(folded.get(label), { label, facts: memory.facts, read }));
  }
  return foldFolders([...folded.values()]).map((memory) => {
    const files = items.find((item) => item.label === memory.label)?.files ?? [];
    const isComplete = memory.read !== 'all' && files.length > 0 && files.every((path) => memory.read.includes(path));
    return isComplete ? { label: memory.label, facts: memory.facts, read: 'all' } : memory;
  });
}

/**
 * A line about a file in the folder of an item that has its own line: what it adds joins that line. Items that are done are
 * not listed with their files any more, so the name of the folder is all that tells.
 */
function foldFolders(memories: readonly Memory[]): readonly Memory[] {
  const folded = new Map(memories.map((memory) => [memory.label, memory]));
  for (const memory of memories) {
    const owner = [...folded.values()]
      .filter(({ label }) => memory.label.startsWith(`${label}/`))
      .sort((left, right) => right.label.length - left.label.length)[0];
    if (owner === undefined) continue;
    const known = new Set([owner.label, ...owner.facts.values()]);
    const added = [...memory.facts].filter(([, value]) => !known.has(value));
    const read = memory.read === 'all' ? [memory.label] : memory.read;
    folded.set(owner.label, mergeMemories({ label: owner.label, facts: new Map(added), read }, owner));
    folded.delete(memory.label);
  }
  return [...folded.values()];
}
