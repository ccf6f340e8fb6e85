import { fileArguments } from './identifiers.ts';
import type { CompactionPolicy } from './policy.ts';
import type { LedgerResult } from './result-ledger.ts';

/** Files that the conversation has dealt with, each list in alphabetical order. */
export interface FileLists {
  /** Read and never modified. */
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

/** What the program itself keeps beside a summary: the files and the results of calls. */
export interface SummaryLedger extends FileLists {
  /** Oldest first; absent beside summaries of before there were any. */
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
  const list = (tag: string, files: readonly string[]): string[] =>
    files.length === 0 ? [] : [`<${tag}>\n${files.join('\n')}\n</${tag}>`];
  return [...list('read-files', read), ...list('modified-files', modified)].join('\n\n');
}

const LISTS = /\n*<(read-files|modified-files|earlier-results)>[\s\S]*?<\/\1>/g;

/** A summary without what the program lists below it: that is kept beside it, and a model that repeats it would only let it grow old. */
export function withoutFileLists(text: string): string {
  return text.replaceAll(LISTS, '');
}
