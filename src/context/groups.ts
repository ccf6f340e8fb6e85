import type { EntryOutline } from './entry.ts';

/**
 * Entries that stay together: an assistant entry with all its tool results, or one entry of
 * another kind. Providers refuse a request that holds a call without its result or the reverse, so
 * nothing ever cuts through a group.
 */
export interface Group<T extends EntryOutline = EntryOutline> {
  readonly kind: 'user' | 'exchange' | 'note' | 'branch_summary' | 'marker' | 'orphan_result';
  /** The assistant entry first, then its results by call index, whatever order they arrived in. */
  readonly entries: readonly T[];
  readonly turnId: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /**
   * Whether the kept part of a view may begin with this group: it can stand at the beginning and
   * no earlier group still waits for a result that arrived later.
   */
  readonly cutBefore: boolean;
}

interface OpenGroup<T extends EntryOutline> {
  kind: Group['kind'];
  entries: T[];
  lastSequence: number;
}

/** Groups in order of their first entries. Linear. */
export function groupEntries<T extends EntryOutline>(entries: readonly T[]): Group<T>[] {
  const groups: OpenGroup<T>[] = [];
  const exchanges = new ExchangeIndex<T>();
  for (const entry of entries) {
    const exchange = entry.kind === 'tool_result' ? exchanges.find(entry) : undefined;
    if (exchange !== undefined) {
      exchange.entries.push(entry);
      if (entry.sequence > exchange.lastSequence) exchange.lastSequence = entry.sequence;
      continue;
    }
    const group: OpenGroup<T> = { kind: groupKind(entry), entries: [entry], lastSequence: entry.sequence };
    if (entry.kind === 'assistant') exchanges.add(entry, group);
    groups.push(group);
  }
  return closeGroups(groups);
}

/** Finds the group of a call by turn and call number. */
class ExchangeIndex<T extends EntryOutline> {
  private readonly turns = new Map<string, Map<number, OpenGroup<T>>>();

  add(entry: T, group: OpenGroup<T>): void {
    const turn = this.turns.get(entry.turnId);
    if (turn === undefined) this.turns.set(entry.turnId, new Map([[entry.callNumber ?? 0, group]]));
    else turn.set(entry.callNumber ?? 0, group);
  }

  find(entry: T): OpenGroup<T> | undefined {
    return this.turns.get(entry.turnId)?.get(entry.callNumber ?? 0);
  }
}

function groupKind(entry: EntryOutline): Group['kind'] {
  switch (entry.kind) {
    case 'user':
      return 'user';
    case 'assistant':
      return 'exchange';
    case 'tool_result':
      return 'orphan_result';
    case 'note':
      return 'note';
    case 'branch_summary':
      return 'branch_summary';
    case 'compaction':
      return 'marker';
  }
}

function closeGroups<T extends EntryOutline>(groups: readonly OpenGroup<T>[]): Group<T>[] {
  let reached = -Infinity;
  return groups.map((group) => {
    const first = group.entries[0];
    if (first === undefined) throw new RangeError('A group without entries cannot be closed.');
    if (group.entries.length > 2) group.entries = [first, ...group.entries.slice(1).sort(byCallIndex)];
    const cutBefore = group.kind !== 'marker' && group.kind !== 'orphan_result' && reached < first.sequence;
    reached = Math.max(reached, group.lastSequence);
    return {
      kind: group.kind,
      entries: group.entries,
      turnId: first.turnId,
      firstSequence: first.sequence,
      lastSequence: group.lastSequence,
      cutBefore,
    };
  });
}

function byCallIndex(left: EntryOutline, right: EntryOutline): number {
  return (left.callIndex ?? 0) - (right.callIndex ?? 0) || left.sequence - right.sequence;
}
