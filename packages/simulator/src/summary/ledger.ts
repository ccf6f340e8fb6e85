import type { ConversationEvent } from '../agents/conversation.ts';
import { gatherKnowledge, type Knowledge } from '../reader/knowledge.ts';
import { genericName, isRead, knownFact } from '../reader/known-facts.ts';
import { foldIntoItems, formatMemory, formatRows, type Memory } from '../reader/memory-lines.ts';
import { parseFact, type Fact } from '../reader/fact-question.ts';
import { factsOf, isNamed, parseFacts, parseReadingTask, type Item, type ReadingTask } from '../reader/reading-task.ts';
import { reportState } from '../reader/report.ts';

/** What a summary says of a reading task. */
export interface Ledger {
  readonly task: ReadingTask | undefined;
  /** What is known of each item, in the order of the list, then what belongs to no known item. */
  readonly memories: readonly Memory[];
  readonly openItems: readonly Item[];
  /** Line that tells which rows the report has; `undefined` when it was not begun. */
  readonly rows: string | undefined;
}

/** What is worth keeping of a file when nobody says what is asked. */
const GENERIC_FACTS: readonly Fact[] = [
  'the value of "name"',
  'the value of "version"',
  'the value of "license"',
  'the first sentence',
].flatMap((words) => {
  const fact = parseFact(`fact: ${words}`);
  return fact === undefined ? [] : [{ ...fact, name: genericName(fact.question) ?? fact.name }];
});

/** Works out what the material tells of a reading task, or of files that were read without one in sight. */
export function makeLedger(events: readonly ConversationEvent[], instructions: string): Ledger {
  const task = findTask(events, instructions);
  const reportPath = task?.reportPath ?? 'report.md';
  const knowledge = gatherKnowledge(events, reportPath);
  const items = [...(task?.items ?? []), ...strayItems(task, knowledge)];
  const remembered = foldIntoItems(items, knowledge.memory.items);
  const asked = (task?.facts ?? parseFacts(instructions)).filter((fact) => fact.question.kind !== 'own_words');
  const seen = items
    .map((item) => memoryOf({ task, asked }, item, knowledge))
    .filter((memory) => memory.facts.size > 0 || memory.read.length > 0);
  const labels = new Set(seen.map((memory) => memory.label));
  const memories = [...remembered.filter((memory) => !labels.has(memory.label)), ...seen];
  const openItems = (task?.items ?? []).filter((item) => !item.files.every((path) => isRead(knowledge, item, path)));
  const rows = task === undefined ? knowledge.memory.rows : reportState(task, events, knowledge).labels;
  return { task, memories, openItems, rows: rows === undefined ? undefined : formatRows(reportPath, rows) };
}

/** The newest text that names files and facts: the user's, or a summary that carries them on; facts may stand in the instructions. */
function findTask(events: readonly ConversationEvent[], instructions: string): ReadingTask | undefined {
  const texts = events.flatMap((event) => (event.kind === 'user' && event.textKind !== 'note' ? [event.text] : []));
  return texts.map((text) => parseReadingTask(text, instructions)).findLast((task) => task !== undefined);
}

/** Files that were read and belong to no item of the task in sight. */
function strayItems(task: ReadingTask | undefined, knowledge: Knowledge): readonly Item[] {
  const known = new Set((task?.items ?? []).flatMap((item) => item.files));
  const remembered = new Set(knowledge.memory.items.map((memory) => memory.label));
  return [...knowledge.files.keys()]
    .filter((path) => !known.has(path) && path !== task?.reportPath && !remembered.has(path))
    .map((path) => ({ label: path, files: [path], facts: [] }));
}

/** What is asked: by the task for its items, and of any file. */
interface Questions {
  readonly task: ReadingTask | undefined;
  readonly asked: readonly Fact[];
}

function memoryOf({ task, asked }: Questions, item: Item, knowledge: Knowledge): Memory {
  const isStray = task === undefined || !task.items.includes(item);
  const facts = isStray ? strayFacts(asked, item) : factsOf(task, item);
  const found = facts.flatMap((fact): [string, string][] => {
    const finding = knownFact(knowledge, item, fact);
    if (finding.state === 'found') return [[fact.name, finding.value]];
    return finding.state === 'absent' && !isStray ? [[fact.name, '–']] : [];
  });
  const read = item.files.filter((path) => isRead(knowledge, item, path));
  return { label: item.label, facts: new Map(found), read: read.length === item.files.length ? 'all' : read };
}

/** Of a file without an item: the facts that name it as their file, or, when nothing is asked, what is always worth keeping. */
function strayFacts(asked: readonly Fact[], item: Item): readonly Fact[] {
  const path = item.files[0] ?? '';
  if (asked.length > 0) return asked.filter((fact) => fact.file === undefined || isNamed(path, fact.file));
  const isManifest = path.endsWith('.json');
  return GENERIC_FACTS.filter((fact) => (fact.question.kind === 'value') === isManifest);
}

/** A ledger line, and a shorter one for when room is short. */
export function ledgerLine(memory: Memory): { text: string; shorter: string } {
  return { text: formatMemory(memory), shorter: formatMemory({ ...memory, facts: new Map() }) };
}

/** An open item in the words of the task, so that whoever reads the summary knows what is asked of it. */
export function openLine(item: Item): string {
  const names = item.files.join(', ');
  const own = item.facts.map((fact) => `; ${fact.name}: ${fact.words}`).join('');
  return `- ${item.label === item.files[0] ? '' : `${item.label}: `}${names}${own}`;
}

/** The facts that are asked, in the words of the task. */
export function questionLines(task: ReadingTask): readonly string[] {
  if (task.facts.length === 0) return [];
  return ['For each item, note:', ...task.facts.map((fact) => `- ${fact.name}: ${fact.words}`)];
}
