import { frame, tagsOf } from '../log/frames.ts';
import type { FrameName } from '../log/frames.ts';
import { fileArguments } from '../log/identifiers.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import type { LedgerResult } from './result-ledger.ts';

/** Files that the conversation has dealt with, each list in alphabetical order. */
export interface FileLists {
  /** Read and never modified. */
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

/** What the program itself keeps beside a summary: the files and the results of calls. */
export interface SummaryLedger extends FileLists {
  /** Oldest first; absent where there are none. */
  readonly results?: readonly LedgerResult[];
}

/**
 * The lists after a compaction: what the calls of the dropped entries name, added to the lists of the
 * compaction before (seeds/pi.md). A file that was modified once is no longer among the read ones.
 */
export function extendFileLists(input: {
  readonly earlier: FileLists;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly tools: NonNullable<CompactionPolicy['summary']['fileLists']>;
}): FileLists {
  const { earlier, calls, tools } = input;
  const filesOf = (names: readonly string[]): string[] =>
    calls.flatMap((call) => (names.includes(call.name) ? fileArguments(call.arguments) : []));
  const modified = new Set([...earlier.modified, ...filesOf(tools.modified)]);
  const read = new Set([...earlier.read, ...filesOf(tools.read)].filter((file) => !modified.has(file)));
  return { read: [...read].sort(), modified: [...modified].sort() };
}

/** The lists as they stand below a summary; empty when there is no file. */
export function renderFileLists({ read, modified }: FileLists): string {
  const list = (name: FrameName, files: readonly string[]): string[] =>
    files.length === 0 ? [] : [frame(name, files.join('\n'))];
  return [...list('readFiles', read), ...list('modifiedFiles', modified)].join('\n\n');
}

const LISTS = (['readFiles', 'modifiedFiles', 'earlierResults'] as const).map((name) => tagsOf(name).open);

/** A summary, and the lists of the program that stand below it: what others wrote holds no mark of theirs. */
export function splitLists(text: string): { readonly written: string; readonly lists: string } {
  const [begin = text.length] = LISTS.map((open) => text.indexOf(open))
    .filter((at) => at !== -1)
    .toSorted((one, other) => one - other);
  return { written: text.slice(0, begin).trimEnd(), lists: text.slice(begin) };
}

/** A summary without what the program lists below it: that is kept beside it, and a model that repeats it would only let it grow old. */
export function withoutFileLists(text: string): string {
  return splitLists(text).written;
}
