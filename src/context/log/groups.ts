import type { EntryKind, EntryOutline } from './entry.ts';

/**
 * Entries that stay together: an assistant entry with all its tool results, or one entry of
 * another kind. Providers refuse a request that holds a call without its result or the reverse, so
 * nothing ever cuts through a group.
 */
export interface Group<T = EntryOutline> {
  readonly kind: GroupKind;
  /** The assistant entry first, then its results by call index, whatever order they arrived in. */
  readonly entries: readonly T[];
  readonly firstSequence: number;
  readonly lastSequence: number;
  /**
   * Whether the kept part of a view may begin with this group: it can stand at the beginning and
   * no earlier group still waits for a result that arrived later.
   */
  readonly cutBefore: boolean;
}

export type GroupKind = 'user' | 'exchange' | 'note' | 'branch_summary' | 'marker' | 'orphan_result';

const GROUP_KINDS: Readonly<Record<EntryKind, GroupKind>> = {
  user: 'user',
  assistant: 'exchange',
  tool_result: 'orphan_result',
  note: 'note',
  branch_summary: 'branch_summary',
  compaction: 'marker',
};

/** Groups in order of their first entries. Linear. */
export function groupEntries<T extends EntryOutline>(entries: readonly T[]): Group<T>[] {
  return groupItems(entries, (entry) => entry);
}

interface OpenGroup<T> {
  readonly kind: GroupKind;
  readonly entries: T[];
  readonly first: EntryOutline;
  readonly firstSequence: number;
  lastSequence: number;
  cutBefore: boolean;
}

/** The same of what stands for entries, such as their positions. */
export function groupItems<T>(items: readonly T[], outlineOf: (item: T) => EntryOutline): Group<T>[] {
  const groups: OpenGroup<T>[] = [];
  // All results of an answer are stored before the next answer.
  let exchange: OpenGroup<T> | null = null;
  for (const item of items) {
    const outline = outlineOf(item);
    const { kind, sequence } = outline;
    if (kind === 'tool_result' && exchange !== null && isOfCall(exchange.first, outline)) {
      exchange.entries.push(item);
      exchange.lastSequence = sequence;
      continue;
    }
    const group: OpenGroup<T> = {
      kind: GROUP_KINDS[kind],
      entries: [item],
      first: outline,
      firstSequence: sequence,
      lastSequence: sequence,
      cutBefore: false,
    };
    if (kind === 'assistant') exchange = group;
    groups.push(group);
  }
  let reached = -Infinity;
  for (const group of groups) {
    const mayBegin = group.kind !== 'marker' && group.kind !== 'orphan_result';
    group.cutBefore = mayBegin && reached < group.firstSequence;
    reached = Math.max(reached, group.lastSequence);
    // An answer has no call index, and stays first.
    if (group.entries.length > 2)
      group.entries.sort((left, right) => callIndex(outlineOf(left)) - callIndex(outlineOf(right)));
  }
  return groups;
}

function isOfCall(answer: EntryOutline, result: EntryOutline): boolean {
  return answer.turnId === result.turnId && answer.callNumber === result.callNumber;
}

function callIndex({ callIndex: index = -1 }: EntryOutline): number {
  return index;
}
