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

type OpenGroup<T extends EntryOutline> = {
  -readonly [Name in keyof Omit<Group<T>, 'entries'>]: Group<T>[Name];
} & { entries: T[] };

/** Groups in order of their first entries. Linear. */
export function groupEntries<T extends EntryOutline>(entries: readonly T[]): Group<T>[] {
  const groups: OpenGroup<T>[] = [];
  const exchanges = new ExchangeIndex<T>();
  for (const entry of entries) {
    const exchange = entry.kind === 'tool_result' ? exchanges.find(entry) : undefined;
    if (exchange !== undefined) {
      const [answer] = exchange.entries;
      // Most answers have one result; an array that grows by push would reserve room for sixteen more.
      if (answer !== undefined && exchange.entries.length === 1) exchange.entries = [answer, entry];
      else exchange.entries.push(entry);
      if (entry.sequence > exchange.lastSequence) exchange.lastSequence = entry.sequence;
      continue;
    }
    const { turnId, sequence } = entry;
    const kind = groupKind(entry);
    const group = {
      kind,
      entries: [entry],
      turnId,
      firstSequence: sequence,
      lastSequence: sequence,
      cutBefore: kind !== 'marker' && kind !== 'orphan_result',
    };
    if (kind === 'exchange') exchanges.add(group);
    groups.push(group);
  }
  closeGroups(groups);
  return groups;
}

/**
 * Finds the group of a call by turn and call number. Results mostly follow their answer at once, so
 * the index of older answers is made only when one is looked for.
 */
class ExchangeIndex<T extends EntryOutline> {
  private readonly exchanges: OpenGroup<T>[] = [];
  private readonly turns = new Map<string, Map<number, OpenGroup<T>>>();
  private indexed = 0;

  add(group: OpenGroup<T>): void {
    this.exchanges.push(group);
  }

  find(entry: T): OpenGroup<T> | undefined {
    const newest = this.exchanges.at(-1);
    if (newest?.turnId === entry.turnId && callNumberOf(newest) === (entry.callNumber ?? 0)) return newest;
    this.indexAll();
    return this.turns.get(entry.turnId)?.get(entry.callNumber ?? 0);
  }

  private indexAll(): void {
    for (const group of this.exchanges.slice(this.indexed)) {
      const turn = this.turns.get(group.turnId);
      if (turn === undefined) this.turns.set(group.turnId, new Map([[callNumberOf(group), group]]));
      else turn.set(callNumberOf(group), group);
    }
    this.indexed = this.exchanges.length;
  }
}

function callNumberOf(group: Group): number {
  return group.entries[0]?.callNumber ?? 0;
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

/** Sorts results, and forbids cuts where an earlier group still waits for a result. */
function closeGroups<T extends EntryOutline>(groups: readonly OpenGroup<T>[]): void {
  let reached = -Infinity;
  for (const group of groups) {
    const { entries } = group;
    // The answer has no call index and came first.
    if (entries.length > 2) entries.sort(byCallIndex);
    if (reached >= group.firstSequence) group.cutBefore = false;
    if (group.lastSequence > reached) reached = group.lastSequence;
  }
}

function byCallIndex(left: EntryOutline, right: EntryOutline): number {
  return (left.callIndex ?? -1) - (right.callIndex ?? -1) || left.sequence - right.sequence;
}
