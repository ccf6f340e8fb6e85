import { parseFilePage, joinSegments, type Segment } from './file-text.ts';
import type { Knowledge, OpenedOriginal } from './knowledge.ts';
import type { Passage } from './recall-result.ts';
import type { Fact } from './fact-question.ts';
import type { Item } from './reading-task.ts';

/** Characters at the beginning of a file in which its own name tells whose it is. */
const TITLE_CHARACTERS = 800;

/** Whether a text shows that it is about a file: it names the path, or itself by the item's name. */
function isAbout(text: string, item: Item, path: string): boolean {
  if (text.includes(path)) return true;
  const name = item.label === path ? '' : item.label;
  if (name === '') return false;
  if (text.includes(`"name": ${JSON.stringify(name)}`) || text.includes(`"name":${JSON.stringify(name)}`))
    return path.endsWith('.json');
  const title = /^(?:\s*\d+\t)?\s*#+ +(.*)$/m.exec(text.slice(0, TITLE_CHARACTERS))?.[1] ?? '';
  return /\.(?:md|markdown|txt|rst)$/i.test(path) && hasWord(title, name);
}

function hasWord(text: string, word: string): boolean {
  const position = text.toLowerCase().indexOf(word.toLowerCase());
  if (position === -1) return false;
  return !/[\w/@-]/.test(text.charAt(position - 1)) && !/[\w/-]/.test(text.charAt(position + word.length));
}

/** The query that looks for a fact of an item; the second try uses other words. */
export function queriesFor(item: Item, fact: Fact, path: string): readonly [string, string] {
  const { question } = fact;
  if ('anchor' in question) return [question.anchor, `${item.label} ${question.anchor}`];
  if (question.kind === 'value') return [`${item.label} ${question.key}`, path];
  return [item.label === path ? path : `${item.label} ${path.slice(path.lastIndexOf('/') + 1)}`, path];
}

/** A heading of what was said, not of what a file holds: the words of a question stand in the task and in summaries too. */
const SAID = /· (?:user|assistant|summary|branch_summary|note) ·/;

/** Passages that a fact's own queries found, best first. */
function passagesFor(knowledge: Knowledge, item: Item, fact: Fact, path: string): readonly Passage[] {
  const found = queriesFor(item, fact, path).flatMap((query) => knowledge.searches.get(query)?.passages ?? []);
  return found.filter((passage) => !SAID.test(passage.heading));
}

/** Entries that hold the file: named by its own results, or found by a search and about it. */
export function entriesOf(knowledge: Knowledge, item: Item, fact: Fact, path: string): readonly string[] {
  const own = knowledge.files.get(path)?.entryIds ?? [];
  const found = passagesFor(knowledge, item, fact, path).filter((passage) =>
    isAbout(`${passage.heading}\n${passage.text}`, item, path),
  );
  return [...new Set([...own, ...found.map((passage) => passage.entryId)])];
}

/** What opened entries and found passages show of a file. */
export function recalledSegments(knowledge: Knowledge, item: Item, fact: Fact, path: string): readonly Segment[] {
  const trusted = new Set(entriesOf(knowledge, item, fact, path));
  const opened = [...knowledge.opened.values()].filter(
    (entry) => trusted.has(entry.entryId) || [entry.text, ...entry.remains].some((text) => isAbout(text, item, path)),
  );
  // Words that were asked of this item alone mark the passage as its own.
  const isOwn = item.facts.includes(fact);
  const passages = passagesFor(knowledge, item, fact, path).filter((passage) => trusted.has(passage.entryId) || isOwn);
  return joinSegments([
    ...opened.flatMap((entry) => openedSegments(entry)),
    ...opened.flatMap((entry) => entry.remains.flatMap((text) => remainingSegments(text))),
    ...passages.map((passage) => passageSegment(passage)),
  ]);
}

function openedSegments(entry: OpenedOriginal): readonly Segment[] {
  const complete = entry.nextOffset === undefined;
  // A page of recall may end inside a line: what follows the last line end waits for the next page.
  const end = complete ? entry.text.length : Math.max(0, entry.text.lastIndexOf('\n'));
  const begin = entry.from === 0 ? 0 : entry.text.indexOf('\n') + 1;
  const page = parseFilePage(entry.text.slice(begin, end), undefined);
  return page.segments.map(({ text, firstLine, insideLine, fromStart, toEnd }) => ({
    text,
    firstLine,
    insideLine,
    fromStart: fromStart && entry.from === 0 && (firstLine ?? 1) === 1,
    toEnd: toEnd && complete,
  }));
}

/** What is left of a page: it may begin and end inside a line, and nobody knows where it stands. */
function remainingSegments(text: string): readonly Segment[] {
  const lines = text.slice(text.indexOf('\n') + 1, Math.max(0, text.lastIndexOf('\n')));
  return parseFilePage(lines, undefined).segments.map(({ text: part, firstLine, insideLine }) => ({
    text: part,
    firstLine,
    insideLine,
    fromStart: false,
    toEnd: false,
  }));
}

function passageSegment(passage: Passage): Segment {
  const segment = parseFilePage(passage.text, undefined).segments[0];
  return {
    text: segment?.text ?? '',
    firstLine: segment?.firstLine,
    insideLine: false,
    fromStart: segment?.firstLine === 1 && passage.offset === 0 && /^\s*1\t/.test(passage.text),
    toEnd: false,
  };
}
