import type { EntryKind, EntryOutline } from './entry.ts';
import type { OutlineTable } from './outline-table.ts';

/**
 * Entries that stay together: an assistant entry with all its tool results, or one entry of
 * another kind. Providers refuse a request that holds a call without its result or the reverse, so
 * nothing ever cuts through a group.
 */
export interface Group<T extends EntryOutline = EntryOutline> {
  /** Of the first entry. A tool result is in the group of its answer; one that begins a group has lost it. */
  readonly kind: EntryKind;
  /** The assistant entry first, then its results by call index, whatever order they arrived in. */
  readonly entries: readonly T[];
}

/** Groups in order of their first entries. Linear. */
export function groupEntries<T extends EntryOutline>(entries: readonly T[]): Group<T>[] {
  const groups: (Group<T> & { readonly entries: T[] })[] = [];
  // All results of an answer are stored before the next answer.
  let exchange: (typeof groups)[number] | undefined;
  for (const entry of entries) {
    if (isResultOf(entry, exchange?.entries[0])) {
      exchange?.entries.push(entry);
      continue;
    }
    const group = { kind: entry.kind, entries: [entry] };
    if (entry.kind === 'assistant') exchange = group;
    groups.push(group);
  }
  for (const group of groups) {
    // The answer has no call index and came first.
    group.entries.sort((left, right) => (left.callIndex ?? -1) - (right.callIndex ?? -1));
  }
  return groups;
}

function isResultOf(entry: EntryOutline, answer: EntryOutline | undefined): boolean {
  return entry.kind === 'tool_result' && entry.turnId === answer?.turnId && entry.callNumber === answer.callNumber;
}

/**
 * Whether the kept part of a view may begin with the entry at a place of `kept`: it can stand at the beginning, and no answer before it
 * still waits for a result that arrived later.
 *
 * @param kept positions of the table, ascending
 */
export function mayBegin(table: OutlineTable, kept: readonly number[], place: number): boolean {
  const kindAt = (other: number): EntryKind => table.kindAt(kept[other] ?? 0);
  const kind = kindAt(place);
  if (kind === 'assistant' || kind === 'tool_result' || kind === 'compaction') return kind === 'assistant';
  let before = place - 1;
  while (before >= 0 && kindAt(before) !== 'assistant') before -= 1;
  const answer = kept[before];
  if (answer === undefined) return true;
  for (let later = place + 1; later < kept.length && kindAt(later) !== 'assistant'; later += 1) {
    if (isResultOf(table.at(kept[later] ?? 0), table.at(answer))) return false;
  }
  return true;
}
