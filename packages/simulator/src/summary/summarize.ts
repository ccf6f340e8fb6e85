import type { ConversationEvent } from '../agents/conversation.ts';
import type { Random } from '../core/random.ts';
import type { SimulatorRequest } from '../core/request.ts';
import { fitLines, type SummaryLine } from './fit-lines.ts';
import { ledgerLine, makeLedger, openLine, questionLines, type Ledger } from './ledger.ts';
import { readMaterial } from './material.ts';
import { findOrder } from './order.ts';
import { decisionLines, problemLines, requestLines, stateLines, valueLines } from './observations.ts';
import { findSections, subjectOf, type Section, type Subject } from './sections.ts';

/** Share of the longest answer that a summary aims at: a summary that is cut off is worth nothing. */
const AIM = 0.9;

/** Worth of lines by what they hold: what only the summary knows is given up last. */
const WORTH = {
  facts: 100,
  request: 90,
  question: 95,
  rows: 98,
  state: 60,
  open: 50,
  decision: 40,
  problem: 30,
  carried: 20,
  value: 10,
};

/**
 * A summary with the sections that the prompt names, filled from the material that the request gives and from
 * nothing else, within the longest answer; what does not fit is lost, least important and oldest first.
 */
export function summarize(request: SimulatorRequest, random: Random): string {
  const material = readMaterial(request);
  const order = findOrder(request);
  const sections = findSections(request.system, order?.text ?? '');
  const ledger = makeLedger(material.events, material.instructions);
  const carried = carriedLines(material.events, sections);
  const homes = chooseHomes(sections);
  const lines = sections.flatMap((section): readonly SummaryLine[] => {
    const before = carried.get(section.heading) ?? [];
    const own = contentOf(section, { homes, ledger, events: material.events, carried: before, random });
    const known = new Set(own.map((line) => line.text));
    const kept = (section === homes.requests ? [] : before).filter(
      (text) => !known.has(text) && keepsCarried(section, ledger, text),
    );
    return [
      { text: section.heading, worth: Infinity },
      ...kept.map((text) => ({ text, worth: WORTH.carried })),
      ...own,
      { text: '', worth: Infinity },
    ];
  });
  return withNone(fitLines(lines, Math.floor(request.maximumOutput * AIM)), sections).trim();
}

/** Which section takes the ledger of items, and which the open ones. */
interface Homes {
  readonly ledger: Section | undefined;
  readonly open: Section | undefined;
  readonly requests: Section | undefined;
}

function chooseHomes(sections: readonly Section[]): Homes {
  const first = (subject: Subject): Section | undefined => sections.find((section) => subjectOf(section) === subject);
  const done = sections.find((section) => /\b(?:completed|done)\b/i.test(section.title));
  const fallback = first('facts') ?? sections.at(-1);
  return {
    ledger: done ?? first('completed') ?? fallback,
    open: first('open') ?? fallback,
    requests: first('requests') ?? sections[0],
  };
}

interface Contents {
  readonly homes: Homes;
  readonly ledger: Ledger;
  readonly events: readonly ConversationEvent[];
  /** Lines of the same section in earlier summaries. */
  readonly carried: readonly string[];
  readonly random: Random;
}

function contentOf(section: Section, { homes, ledger, events, carried, random }: Contents): readonly SummaryLine[] {
  const lines: SummaryLine[] = [];
  const add = (worth: number, texts: readonly string[]): void => {
    lines.push(...texts.map((text) => ({ text, worth })));
  };
  if (section === homes.requests) {
    const ofRequests = carried.filter((text) => keepsCarried(section, ledger, text));
    const { earlier, own } = requestLines(events, ofRequests);
    add(WORTH.carried, earlier);
    add(WORTH.request, own);
    if (ledger.task !== undefined) add(WORTH.question, questionLines(ledger.task));
  }
  if (section === homes.ledger) {
    lines.push(
      ...ledger.memories
        .map((memory) => ({ ...ledgerLine(memory), worth: WORTH.facts }))
        .map(({ text, shorter, worth }) => ({ text, shorter, worth })),
    );
    if (ledger.rows !== undefined) add(WORTH.rows, [ledger.rows]);
  }
  // Of the open items the first come first, so the last are given up first.
  if (section === homes.open)
    lines.push(...ledger.openItems.map((item, index) => ({ text: openLine(item), worth: WORTH.open - index / 1000 })));
  switch (subjectOf(section)) {
    case 'state':
      add(WORTH.state, stateLines(events, ledger, random));
      break;
    case 'facts':
      add(WORTH.value, valueLines(events, ledger));
      break;
    case 'decisions':
      add(WORTH.decision, decisionLines(events));
      break;
    case 'problems':
      add(WORTH.problem, problemLines(events));
      break;
    case 'requests':
    case 'completed':
    case 'open':
    case 'files':
    case 'other':
      break;
  }
  return lines;
}

/** Lines of earlier summaries, by the heading under which they stood. */
function carriedLines(
  events: readonly ConversationEvent[],
  sections: readonly Section[],
): ReadonlyMap<string, readonly string[]> {
  const carried = new Map<string, string[]>();
  for (const event of events) {
    if (event.kind !== 'user' || event.textKind !== 'summary') continue;
    let heading: string | undefined;
    for (const line of event.text.split('\n')) {
      const section = sections.find((each) => line.trim() === each.heading);
      if (section !== undefined) heading = section.heading;
      else if (heading !== undefined && /^\s*[-*] /.test(line) && !/^\s*[-*] none\.?\s*$/i.test(line))
        carried.set(heading, [...(carried.get(heading) ?? []), line.trim()]);
    }
  }
  return carried;
}

/** Ledger, open items, questions and state are worked out anew; the rest of what a summary said stays. */
function keepsCarried(section: Section, ledger: Ledger, text: string): boolean {
  // A line of one of its files is part of an item's line.
  const isMemory = ledger.memories.some(
    ({ label }) => text.startsWith(`- ${label}: `) || text.startsWith(`- ${label}/`),
  );
  const isItem = ledger.task?.items.some((item) => text === openLine(item)) === true;
  const isQuestion = ledger.task?.facts.some((fact) => text === `- ${fact.name}: ${fact.words}`) === true;
  return !isMemory && !isItem && !isQuestion && !/^- rows in \S+: /.test(text) && subjectOf(section) !== 'state';
}

/** An empty section says so; a heading that only opens others needs nothing. */
function withNone(lines: readonly string[], sections: readonly Section[]): string {
  const headings = new Set(sections.map((section) => section.heading));
  const level = (line: string): number => /^#*/.exec(line)?.[0].length ?? 0;
  return lines
    .flatMap((line, index) => {
      if (!headings.has(line)) return [line];
      const next = lines.slice(index + 1).find((each) => each !== '');
      const isParent = next !== undefined && headings.has(next) && level(next) > level(line);
      return lines[index + 1] === '' && !isParent ? [line, '- none'] : [line];
    })
    .join('\n');
}
