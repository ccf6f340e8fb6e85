import type { EntryOutline } from './entry.ts';
import { outlineTable } from './outline-table.ts';
import type { OutlineTable } from './outline-table.ts';

/**
 * Entries that stay together: an assistant entry with all its tool results, or one entry of
 * another kind. Providers refuse a request that holds a call without its result or the reverse, so
 * nothing ever cuts through a group.
 */
export interface Group<T extends EntryOutline = EntryOutline> {
  readonly kind: GroupKind;
  /** The assistant entry first, then its results by call index, whatever order they arrived in. */
  readonly entries: readonly T[];
  readonly firstSequence: number;
}

export type GroupKind = 'user' | 'exchange' | 'note' | 'branch_summary' | 'marker' | 'orphan_result';

/** Positions of a table, ascending. */
export type Positions = Int32Array | readonly number[];

const NONE = -1;

/** The groups of entries of a table, in order of their first entries; 50,000 entries make no object each. */
export class GroupTable {
  readonly table: OutlineTable;
  readonly positions: Positions;
  length = 0;
  /** For each group the place in `positions` of its first entry, and of its newest. */
  private readonly firsts: Int32Array;
  private readonly lasts: Int32Array;
  /** For each entry the place of the next one of its group. */
  private readonly nexts: Int32Array;
  private readonly cuts: Uint8Array;

  constructor(table: OutlineTable, positions: Positions) {
    this.table = table;
    this.positions = positions;
    this.firsts = new Int32Array(positions.length);
    this.lasts = new Int32Array(positions.length);
    this.nexts = new Int32Array(positions.length).fill(NONE);
    this.cuts = new Uint8Array(positions.length);
    // All results of an answer are stored before the next answer.
    let newestExchange = NONE;
    for (let place = 0; place < positions.length; place += 1) {
      const position = positions[place] ?? 0;
      const kind = table.kindAt(position);
      if (kind === 'tool_result' && newestExchange !== NONE && this.isCallOf(newestExchange, position)) {
        this.nexts[this.lasts[newestExchange] ?? 0] = place;
        this.lasts[newestExchange] = place;
        continue;
      }
      if (kind === 'assistant') newestExchange = this.length;
      this.firsts[this.length] = place;
      this.lasts[this.length] = place;
      this.length += 1;
    }
    this.findCuts();
  }

  kindAt(group: number): GroupKind {
    return groupKind(this.table.kindAt(this.firstAt(group)));
  }

  firstAt(group: number): number {
    return this.positions[this.firsts[group] ?? 0] ?? 0;
  }

  firstSequenceAt(group: number): number {
    return this.table.sequenceAt(this.firstAt(group));
  }

  lastSequenceAt(group: number): number {
    return this.table.sequenceAt(this.positions[this.lasts[group] ?? 0] ?? 0);
  }

  /**
   * Whether the kept part of a view may begin with this group: it can stand at the beginning and
   * no earlier group still waits for a result that arrived later.
   */
  cutBeforeAt(group: number): boolean {
    return this.cuts[group] === 1;
  }

  /** Positions of a group's entries: the answer first, then its results by call index. */
  entriesAt(group: number): readonly number[] {
    const entries: number[] = [];
    for (let place = this.firsts[group] ?? NONE; place !== NONE; place = this.nexts[place] ?? NONE) {
      entries.push(this.positions[place] ?? 0);
    }
    const { callIndexes } = this.table.columns;
    // The answer has no call index and came first.
    if (entries.length < 3) return entries;
    const [answer = 0, ...results] = entries;
    return [
      answer,
      ...results.sort((left, right) => (callIndexes[left] ?? 0) - (callIndexes[right] ?? 0) || left - right),
    ];
  }

  /** Positions of all entries of the groups from `from` on, group by group. */
  entriesFrom(from: number): readonly number[] {
    return Array.from({ length: this.length - from }, (_, index) => this.entriesAt(from + index)).flat();
  }

  private isCallOf(exchange: number, result: number): boolean {
    const { turns, callNumbers } = this.table.columns;
    const answer = this.firstAt(exchange);
    return turns[answer] === turns[result] && callNumbers[answer] === callNumbers[result];
  }

  private findCuts(): void {
    let reached = -Infinity;
    for (let group = 0; group < this.length; group += 1) {
      const kind = this.kindAt(group);
      const mayBegin = kind !== 'marker' && kind !== 'orphan_result';
      this.cuts[group] = mayBegin && reached < this.firstSequenceAt(group) ? 1 : 0;
      const last = this.lastSequenceAt(group);
      if (last > reached) reached = last;
    }
  }
}

/** Groups in order of their first entries. Linear. */
export function groupEntries<T extends EntryOutline>(entries: readonly T[]): Group<T>[] {
  const groups = new GroupTable(
    outlineTable(entries),
    entries.map((_, position) => position),
  );
  return Array.from({ length: groups.length }, (_, group) => ({
    kind: groups.kindAt(group),
    entries: groups.entriesAt(group).flatMap((position) => entries[position] ?? []),
    firstSequence: groups.firstSequenceAt(group),
  }));
}

function groupKind(kind: EntryOutline['kind']): GroupKind {
  switch (kind) {
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
