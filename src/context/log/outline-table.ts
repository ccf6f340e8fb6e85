import { ENTRY_KINDS, NOTE_SLOTS } from './entry.ts';
import type { EntryKind, EntryOutline, NoteSlot } from './entry.ts';
import { charactersAt, emptyMeasuredColumns, measurementsAt, setMeasurements } from './measurements.ts';
import type { MeasuredColumns, Measurements } from './measurements.ts';

/** Outlines property by property; all columns have one place per entry, and may have room for more. */
export interface OutlineColumns {
  /** Places in `ENTRY_KINDS`. */
  readonly kinds: Uint8Array;
  /** Places in `NOTE_SLOTS`, from 1; 0: no slot. */
  readonly slots: Uint8Array;
  readonly sequences: Int32Array;
  /** Places in `turnNames`. */
  readonly turns: Int32Array;
  readonly turnNames: Names;
  readonly callNumbers: Int32Array;
  readonly callIndexes: Int32Array;
  readonly toolCallCounts: Int32Array;
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
  readonly idAt: (position: number) => string;
  /** What the table was made from. */
  private readonly outlines: readonly EntryOutline[] | null;

  constructor(
    columns: OutlineColumns,
    length: number,
    idAt: (position: number) => string,
    outlines: readonly EntryOutline[] | null = null,
  ) {
    this.columns = columns;
    this.length = length;
    this.idAt = idAt;
    this.outlines = outlines;
  }

  kindAt(position: number): EntryKind {
    return ENTRY_KINDS[this.columns.kinds[position] ?? 0] ?? 'user';
  }

  slotAt(position: number): NoteSlot | undefined {
    return NOTE_SLOTS[(this.columns.slots[position] ?? 0) - 1];
  }

  sequenceAt(position: number): number {
    return this.columns.sequences[position] ?? 0;
  }

  turnIdAt(position: number): string {
    return this.columns.turnNames.all[this.columns.turns[position] ?? 0] ?? '';
  }

  toolNameAt(position: number): string {
    return this.columns.toolNames.all[this.columns.tools[position] ?? 0] ?? '';
  }

  isErrorAt(position: number): boolean {
    return this.columns.errors[position] === 1;
  }

  charactersAt(position: number): number {
    return charactersAt(this.columns.measurements, position);
  }

  showsMediaAt(position: number): boolean {
    const { images, documentPages } = this.columns.measurements;
    return (images[position] ?? 0) > 0 || (documentPages[position] ?? 0) > 0;
  }

  measurementsAt(position: number): Measurements {
    return measurementsAt(this.columns.measurements, position);
  }

  at(position: number): EntryOutline {
    return this.outlines?.[position] ?? this.outlineAt(position);
  }

  /** Position of the first entry from `sequence` on; the length when there is none. */
  firstFrom(sequence: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.sequenceAt(middle) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  *[Symbol.iterator](): IterableIterator<EntryOutline> {
    for (let position = 0; position < this.length; position += 1) yield this.at(position);
  }

  private outlineAt(position: number): EntryOutline {
    const { columns } = this;
    const kind = this.kindAt(position);
    const slot = this.slotAt(position);
    return {
      id: this.idAt(position),
      sequence: this.sequenceAt(position),
      kind,
      turnId: this.turnIdAt(position),
      measurements: this.measurementsAt(position),
      ...(slot !== undefined && { slot }),
      ...((kind === 'assistant' || kind === 'tool_result') && { callNumber: columns.callNumbers[position] ?? 0 }),
      ...(kind === 'assistant' && { toolCallCount: columns.toolCallCounts[position] ?? 0 }),
      ...(kind === 'tool_result' && {
        callIndex: columns.callIndexes[position] ?? 0,
        toolName: this.toolNameAt(position),
        isError: this.isErrorAt(position),
      }),
    };
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
  return new OutlineTable(columns, outlines.length, (position) => outlines[position]?.id ?? '', outlines);
}

export function writeOutline(columns: OutlineColumns, position: number, outline: EntryOutline): void {
  columns.kinds[position] = ENTRY_KINDS.indexOf(outline.kind);
  columns.slots[position] = outline.slot === undefined ? 0 : NOTE_SLOTS.indexOf(outline.slot) + 1;
  columns.sequences[position] = outline.sequence;
  columns.turns[position] = columns.turnNames.placeOf(outline.turnId);
  columns.callNumbers[position] = outline.callNumber ?? 0;
  columns.callIndexes[position] = outline.callIndex ?? 0;
  columns.toolCallCounts[position] = outline.toolCallCount ?? 0;
  columns.tools[position] = columns.toolNames.placeOf(outline.toolName ?? '');
  columns.errors[position] = outline.isError === true ? 1 : 0;
  setMeasurements(columns.measurements, position, outline.measurements);
}

/** Columns of zeros; the first name of a tool is the empty one. */
export function emptyOutlineColumns(length: number): OutlineColumns {
  return {
    kinds: new Uint8Array(length),
    slots: new Uint8Array(length),
    sequences: new Int32Array(length),
    turns: new Int32Array(length),
    callNumbers: new Int32Array(length),
    callIndexes: new Int32Array(length),
    toolCallCounts: new Int32Array(length),
    tools: new Int32Array(length),
    errors: new Uint8Array(length),
    measurements: emptyMeasuredColumns(length),
    turnNames: new Names(),
    toolNames: new Names(['']),
  };
}

/** Different names, each at a place of its own. */
export class Names {
  readonly all: string[] = [];
  private readonly places = new Map<string, number>();

  constructor(first: readonly string[] = []) {
    for (const name of first) this.placeOf(name);
  }

  placeOf(name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const place = this.all.push(name) - 1;
    this.places.set(name, place);
    return place;
  }
}
