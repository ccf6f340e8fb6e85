import { stringArgument, type CallEvent, type ConversationEvent } from '../agents/conversation.ts';
import { summariesIn } from '../agents/summaries.ts';
import { tellsToGoOn } from '../agents/user-text.ts';
import { joinSegments, parseFilePage, type Segment } from './file-text.ts';
import type { Finding } from './find-fact.ts';
import { readSummaries, type SummaryMemory } from './memory-lines.ts';
import { hasGap } from './gap.ts';
import { parseOpenedEntry, parsePassages, type Passage } from './recall-result.ts';

/** What the request shows of one file. */
export interface FileKnowledge {
  readonly segments: readonly Segment[];
  /** The newest result reached the file's end, or was taken out since, so that it cannot tell. */
  readonly read: boolean;
  /** Arguments that read on, when the newest page was not the last. */
  readonly next: Readonly<Record<string, number>> | undefined;
  /** What the tool said when it could not read the file. */
  readonly failure: string | undefined;
  /** Entries that hold the originals of clipped and cleared results. */
  readonly entryIds: readonly string[];
}

/** An entry that recall opened, as far as its pages are in the request. */
export interface OpenedOriginal {
  readonly entryId: string;
  readonly text: string;
  /** First character known, from 0. */
  readonly from: number;
  /** Where to read on; absent at the end of the entry. */
  readonly nextOffset: number | undefined;
  /** Results of it that were taken out since, wholly or in part. */
  readonly lost: number;
  /** What is left of those that were taken out in part. */
  readonly remains: readonly string[];
}

/** What a search has brought back. */
export interface Search {
  readonly passages: readonly Passage[];
  /** Results of it that were taken out since, wholly or in part. */
  readonly lost: number;
  /** There is nothing to gain by making it again. */
  readonly isOver: boolean;
}

/** Times that a result of recall may be taken out of the context again, wholly or in part, before the reader gives up on it. */
export const MOST_LOST = 3;

/** Everything that the reader knows: what its request shows, and nothing else. */
export interface Knowledge {
  readonly files: ReadonlyMap<string, FileKnowledge>;
  readonly memory: SummaryMemory;
  /** Searches made that have a result, by query. */
  readonly searches: ReadonlyMap<string, Search>;
  readonly opened: ReadonlyMap<string, OpenedOriginal>;
  /** Software took something out of the context. */
  readonly shortened: boolean;
  /** Something tells the model to go on. */
  readonly toldToGoOn: boolean;
  /** Findings of this request already worked out, by item and fact. */
  readonly findings: Map<string, Finding>;
}

export function pathOf(call: CallEvent): string | undefined {
  return stringArgument(call, 'path')?.replace(/^\.\//, '');
}

function numberArgument(call: CallEvent, name: string): number | undefined {
  const value = call.arguments[name];
  return typeof value === 'number' ? value : undefined;
}

/** Gathers what the events tell. */
export function gatherKnowledge(events: readonly ConversationEvent[], reportPath: string): Knowledge {
  const calls = events.flatMap((event) => (event.kind === 'call' ? [event] : []));
  const summaries = summariesIn(events);
  const files = gatherFiles(calls);
  return {
    files: files.known,
    memory: readSummaries(summaries, reportPath),
    searches: gatherSearches(calls),
    opened: gatherOpened(calls),
    findings: new Map(),
    shortened:
      summaries.length > 0 ||
      files.anyCleared ||
      events.some(
        (event) =>
          event.kind === 'user' && event.textKind === 'note' && /\b(compacted|truncated|shortened)\b/i.test(event.text),
      ),
    toldToGoOn: events.some(
      (event) => event.kind === 'user' && event.textKind !== 'message' && tellsToGoOn(event.text),
    ),
  };
}

function gatherFiles(calls: readonly CallEvent[]): { known: ReadonlyMap<string, FileKnowledge>; anyCleared: boolean } {
  const known = new Map<string, FileKnowledge>();
  let anyCleared = false;
  for (const call of calls) {
    const path = pathOf(call);
    if (call.name !== 'read_file' || path === undefined || call.result === undefined) continue;
    const before = known.get(path) ?? { segments: [], read: false, next: undefined, failure: undefined, entryIds: [] };
    if (isFailure(call)) {
      known.set(path, { ...before, failure: call.result.text, read: true });
      continue;
    }
    const page = parseFilePage(call.result.text, numberArgument(call, 'offset'), numberArgument(call, 'column'));
    anyCleared ||= page.cleared || /\[(?:clipped|truncated)\b/i.test(call.result.text);
    known.set(path, {
      segments: joinSegments([...before.segments, ...page.segments]),
      // A cleared page cannot tell whether it was the last: pages are read to the end before the next file.
      read: page.next === undefined,
      next: page.next,
      failure: undefined,
      entryIds: page.entryId === undefined ? before.entryIds : [...before.entryIds, page.entryId],
    });
  }
  return { known, anyCleared };
}

/** Words of a tool that could not do what it was asked, in one short line. */
const FAILURE =
  /^\s*\[?(?:tool )?error\b|\b(?:does not exist|no such (?:file|entry)|not found|could not be|is a binary file|is a directory|has no entry|outcome (?:is )?unknown|interrupted)\b/i;

/** Characters of the longest text that is taken for a failure by its words alone. */
const FAILURE_CHARACTERS = 400;

/** A result that reports an error; OpenAI's protocols have no flag for it, so the words decide as well. */
export function isFailure(call: CallEvent): boolean {
  if (call.result === undefined) return false;
  const { text, isError } = call.result;
  return isError || (text.length <= FAILURE_CHARACTERS && !/^ *\d+\t/.test(text) && FAILURE.test(text));
}

function gatherSearches(calls: readonly CallEvent[]): ReadonlyMap<string, Search> {
  const searches = new Map<string, Search>();
  for (const call of calls) {
    const query = call.name === 'recall_search' ? stringArgument(call, 'query') : undefined;
    if (query === undefined || call.result === undefined) continue;
    const before = searches.get(query) ?? { passages: [], lost: 0 };
    const isWhole = !hasGap(call.result.text);
    // A result that was taken out, or a part of it, is worth another search, but not for ever.
    const lost = before.lost + (isWhole ? 0 : 1);
    const passages = isWhole
      ? parsePassages(call.result.text)
      : [...before.passages, ...parsePassages(call.result.text)];
    searches.set(query, { passages, lost, isOver: isWhole || lost >= MOST_LOST });
  }
  return searches;
}

function gatherOpened(calls: readonly CallEvent[]): ReadonlyMap<string, OpenedOriginal> {
  const opened = new Map<string, OpenedOriginal>();
  for (const call of calls) {
    const entryId = call.name === 'recall_open' ? stringArgument(call, 'entry_id') : undefined;
    if (entryId === undefined || call.result === undefined) continue;
    const before = opened.get(entryId) ?? { entryId, text: '', from: 0, nextOffset: 0, lost: 0, remains: [] };
    const result = parseOpenedEntry(call.result.text);
    if (result.isCut) {
      opened.set(entryId, { ...before, lost: before.lost + 1, remains: [...before.remains, result.text] });
      continue;
    }
    const page = isFailure(call) ? { text: '', from: 0, nextOffset: undefined } : result;
    const goesOn = before.from + before.text.length === page.from;
    opened.set(entryId, {
      entryId,
      lost: before.lost,
      remains: before.remains,
      text: goesOn ? before.text + page.text : page.text,
      from: goesOn ? before.from : page.from,
      nextOffset: page.nextOffset,
    });
  }
  return opened;
}
