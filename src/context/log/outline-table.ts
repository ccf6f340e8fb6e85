import { NOTE_SLOTS } from './entry.ts';
import type { EntryKind, EntryOutline } from './entry.ts';
import { emptyMeasuredColumns, measurementsAt, setMeasurements } from './measurements.ts';
import type { MeasuredColumns } from './measurements.ts';

/** Outlines property by property; all columns have one place per entry, and may have room for more. */
export interface OutlineColumns {
  readonly kinds: EntryKind[];
  /** Places in `NOTE_SLOTS`, from 1; 0: no slot. */
  readonly slots: Uint8Array;
  readonly sequences: Int32Array;
  /** Places in `turnNames`. */
  readonly turns: Int32Array;
  readonly turnNames: Names;
  readonly callNumbers: Int32Array;
  readonly callIndexes: Int32Array;
  /** Places in `toolNames`. */
  readonly tools: Int32Array;
  readonly toolNames: Names;
  /** 1: the tool reported a failure. */
  readonly errors: Uint8Array;
  readonly measurements: MeasuredColumns;
}

/**
 * Outlines of entries, oldest first, in columns. Planning goes through all entries of a conversation, which may be 50,000:
 * as many objects with their measurements take longer to make, to collect and to walk than all decisions. An entry is
 * named by its position, and made an object only where one is needed.
 */
export class OutlineTable implements Iterable<EntryOutline> {
  readonly columns: OutlineColumns;
  readonly length: number;
  private readonly idAt: (position: number) => string;

  constructor(columns: OutlineColumns, length: number, idAt: (position: number) => string) {
    this.columns = columns;
    this.length = length;
    this.idAt = idAt;
  }

  kindAt(position: number): EntryKind {
    return this.columns.kinds[position] ?? 'note';
  }

  sequenceAt(position: number): number {
    return this.columns.sequences[position] ?? 0;
  }

  at(position: number): EntryOutline {
    const { columns } = this;
    const kind = this.kindAt(position);
    const slot = NOTE_SLOTS[(columns.slots[position] ?? 0) - 1];
    return {
      id: this.idAt(position),
      sequence: this.sequenceAt(position),
      kind,
      turnId: columns.turnNames.all[columns.turns[position] ?? 0] ?? '',
      measurements: measurementsAt(columns.measurements, position),
      ...(slot !== undefined && { slot }),
      ...((kind === 'assistant' || kind === 'tool_result') && { callNumber: columns.callNumbers[position] ?? 0 }),
      ...(kind === 'tool_result' && {
        callIndex: columns.callIndexes[position] ?? 0,
        toolName: columns.toolNames.all[columns.tools[position] ?? 0] ?? '',
        isError: columns.errors[position] === 1,
      }),
    };
  }

  /** Position of the first entry that `fits`; -1 when there is none. */
  first(fits: (position: number) => boolean): number {
    for (let position = 0; position < this.length; position += 1) if (fits(position)) return position;
    return -1;
  }

  /** Position of the newest entry that `fits`; -1 when there is none. */
  newest(fits: (position: number) => boolean): number {
    let position = this.length - 1;
    while (position >= 0 && !fits(position)) position -= 1;
    return position;
  }

  *[Symbol.iterator](): IterableIterator<EntryOutline> {
    for (let position = 0; position < this.length; position += 1) yield this.at(position);
  }
}

export type Outlines = OutlineTable | readonly EntryOutline[];

/** The table itself, or one of these outlines. */
export function outlineTable(outlines: Outlines): OutlineTable {
  return outlines instanceof OutlineTable ? outlines : tableOf(outlines);
}

function tableOf(outlines: readonly EntryOutline[]): OutlineTable {
  const columns = emptyOutlineColumns(outlines.length);
  for (const [position, outline] of outlines.entries()) writeOutline(columns, position, outline);
  return new OutlineTable(columns, outlines.length, (position) => outlines[position]?.id ?? '');
}

export function writeOutline(columns: OutlineColumns, position: number, outline: EntryOutline): void {
  columns.kinds[position] = outline.kind;
  columns.slots[position] = outline.slot === undefined ? 0 : NOTE_SLOTS.indexOf(outline.slot) + 1;
  columns.sequences[position] = outline.sequence;
  columns.turns[position] = columns.turnNames.placeOf(outline.turnId);
  columns.callNumbers[position] = outline.callNumber ?? 0;
  columns.callIndexes[position] = outline.callIndex ?? 0;
  columns.tools[position] = columns.toolNames.placeOf(outline.toolName ?? '');
  columns.errors[position] = outline.isError === true ? 1 : 0;
  setMeasurements(columns.measurements, position, outline.measurements);
}

/** Columns of zeros. */
export function emptyOutlineColumns(length: number): OutlineColumns {
  return {
    kinds: [],
    slots: new Uint8Array(length),
    sequences: new Int32Array(length),
    turns: new Int32Array(length),
    callNumbers: new Int32Array(length),
    callIndexes: new Int32Array(length),
    tools: new Int32Array(length),
    errors: new Uint8Array(length),
    measurements: emptyMeasuredColumns(length),
    turnNames: new Names(),
    toolNames: new Names(),
  };
}

/** Different names, each at a place of its own; at place 0 the empty one. */
class Names {
  readonly all = [''];
  private readonly places = new Map([['', 0]]);

  placeOf(name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const place = this.all.push(name) - 1;
    this.places.set(name, place);
    return place;
  }
}
