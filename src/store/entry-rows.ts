import type { ContentPart } from '../context/content.ts';
import type { Entry, EntryKind, EntryOutline, NoteSlot } from '../context/entry.ts';
import { parseMeasurements } from './measurement-columns.ts';
import type { Queries } from './database.ts';

/** Columns of `entries e` that planning reads: no text. */
export interface OutlineColumns {
  readonly id: string;
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly slot: NoteSlot | null;
  readonly turn_id: string;
  readonly call_number: number | null;
  readonly call_index: number | null;
  readonly tool_call_count: number | null;
  readonly tool_name: string | null;
  readonly is_error: boolean | null;
  readonly measurements: string;
}

/** Columns of `entries e left join contents o on o.id = e.original_id` that a projection reads. */
export interface EntryColumns extends OutlineColumns {
  readonly content: readonly ContentPart[];
  readonly original_id: string | null;
  readonly original_bytes: string | null;
  readonly original_missing_bytes: string | null;
}

export function outlineColumns(sql: Queries) {
  return sql`e.id, e.sequence, e.kind, e.slot, e.turn_id, e.call_number, e.call_index, e.tool_call_count,
    e.tool_name, e.is_error, e.measurements`;
}

export function entryColumns(sql: Queries) {
  return sql`${outlineColumns(sql)}, e.content, e.original_id, o.bytes as original_bytes,
    o.missing_bytes as original_missing_bytes`;
}

export function toOutline(row: OutlineColumns): EntryOutline {
  return {
    id: row.id,
    sequence: row.sequence,
    kind: row.kind,
    turnId: row.turn_id,
    measurements: parseMeasurements(row.measurements),
    ...(row.slot !== null && { slot: row.slot }),
    ...(row.call_number !== null && { callNumber: row.call_number }),
    ...(row.call_index !== null && { callIndex: row.call_index }),
    ...(row.tool_call_count !== null && { toolCallCount: row.tool_call_count }),
    ...(row.tool_name !== null && { toolName: row.tool_name }),
    ...(row.is_error !== null && { isError: row.is_error }),
  };
}

export function toEntry(row: EntryColumns): Entry {
  return {
    ...toOutline(row),
    content: row.content,
    ...(row.original_id !== null && {
      original: {
        contentId: row.original_id,
        bytes: Number(row.original_bytes),
        missingBytes: Number(row.original_missing_bytes),
      },
    }),
  };
}
