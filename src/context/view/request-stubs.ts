import type { ContentPart } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import { applyOperation, stripOperation } from '../log/operations.ts';
import { nameText } from '../log/frames.ts';
import { formatCount, wayBack } from './notes.ts';
import type { RecallOptions } from './notes.ts';
import type { RequestStubs } from '../policy/policy.ts';

/**
 * Results that a request shows as one line because it shows the same elsewhere: a later copy of a result that stands whole
 * above it; an earlier read of a page that was read again since; images, when a newer result has some. Nothing is
 * stored and no pass is made. What is a stub in one request is the same stub in every later one until the next
 * compaction, so that the provider's cache breaks once for each, and never for a copy.
 *
 * @param entries what the view keeps, oldest first
 * @param isWhole whether no operation shortens an entry
 * @returns what is shown, by entry id
 */
export function stubResults(
  entries: readonly Entry[],
  stubs: RequestStubs,
  { isWhole, ...options }: RecallOptions & { readonly isWhole: (entry: Entry) => boolean },
): ReadonlyMap<string, readonly ContentPart[]> {
  const results = entries.filter((entry) => entry.kind === 'tool_result' && entry.isError !== true && isWhole(entry));
  const seenThrough = entries.findLast((entry) => entry.kind === 'assistant')?.sequence ?? -Infinity;
  const shown = new Map<string, readonly ContentPart[]>();
  const firsts = new Map<string, Entry>();
  for (const entry of results) {
    const text = onlyText(entry);
    // A page that is read again supersedes the earlier read instead: two rules for one result would make two breaks.
    if (text === '' || text.length < stubs.equalCharacters || stubs.pageTools.includes(entry.toolName ?? '')) continue;
    const first = firsts.get(text);
    if (first === undefined) firsts.set(text, entry);
    else shown.set(entry.id, line(copyText(entry, first, options)));
  }
  const argumentsOf = callArguments(entries, stubs.pageTools);
  const nextReads = new Map<string, Entry>();
  let isMediaNewer = false;
  for (const entry of results.toReversed()) {
    const called = argumentsOf.get(callKey(entry, entry.callIndex ?? 0)) ?? '';
    // The next read, not the newest: a stub that named that one would change with each further read.
    const again = nextReads.get(called);
    if (called !== '') nextReads.set(called, entry);
    if (shown.has(entry.id) || entry.sequence >= seenThrough) continue;
    if (again !== undefined) shown.set(entry.id, line(supersededText(entry, again, options)));
    else if (stubs.newestImagesOnly && isMediaNewer && hasMedia(entry))
      shown.set(entry.id, applyOperation(entry, stripOperation(entry), options));
    isMediaNewer ||= hasMedia(entry);
  }
  return shown;
}

function callArguments(entries: readonly Entry[], pageTools: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of entries) {
    if (entry.kind !== 'assistant') continue;
    for (const part of entry.content) {
      if (part.type !== 'tool_call' || !pageTools.includes(part.name)) continue;
      found.set(callKey(entry, part.index), `${part.name} ${part.arguments}`);
    }
  }
  return found;
}

function callKey({ turnId, callNumber }: Entry, index: number): string {
  return `${turnId} ${callNumber ?? 0} ${index}`;
}

/** Empty where a result holds more than a text. */
function onlyText({ content }: Entry): string {
  const [part, ...others] = content;
  return part?.type === 'text' && others.length === 0 ? part.text : '';
}

function hasMedia({ content }: Entry): boolean {
  return content.some((part) => part.type === 'image');
}

function copyText(copy: Entry, original: Entry, options: RecallOptions): string {
  const characters = formatCount(onlyText(copy).length);
  return `[Byte for byte the result of ${nameText(original.toolName ?? 'a tool')} above, entry ${original.id}: ${characters} characters. ${wayBack(copy.id, options)}]`;
}

function supersededText(entry: Entry, again: Entry, options: RecallOptions): string {
  return `[Read again since, with the same arguments: entry ${again.id} shows what it says now. ${wayBack(entry.id, options)}]`;
}

function line(text: string): readonly ContentPart[] {
  return [{ type: 'text', text }];
}
