import { contentProblem, type ContentPart } from '../../context/log/content.ts';
import type { Entry, EntryKind, EntryOutline, NoteSlot } from '../../context/log/entry.ts';
import { parseMeasurements } from './measurement-columns.ts';
import type { Queries } from '../database/database.ts';

export interface OutlineColumns {
  readonly id: string;
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly slot: NoteSlot | null;
  readonly turnId: string;
  readonly callNumber: number | null;
  readonly callIndex: number | null;
  readonly toolCallCount: number | null;
  readonly toolName: string | null;
  readonly isError: boolean | null;
  readonly measurements: string;
}

/** Columns of `entries e left join contents o on o.id = e.original_id` that a projection reads. */
export interface EntryColumns extends OutlineColumns {
  readonly content: readonly ContentPart[];
  readonly originalId: string | null;
  readonly originalBytes: string | null;
  readonly originalMissingBytes: string | null;
}

export function outlineColumns(sql: Queries) {
  return sql`e.id, e.sequence, e.kind, e.slot, e.turn_id, e.call_number, e.call_index, e.tool_call_count,
    e.tool_name, e.is_error, e.measurements`;
}

export function entryColumns(sql: Queries) {
  return sql`${outlineColumns(sql)}, e.content, e.original_id, o.bytes as original_bytes,
    o.missing_bytes as original_missing_bytes`;
}

/**
 * One literal per kind, so that all outlines of a kind have one shape and one `kind` string: planning 50,000 objects that were
 * put together property by property takes ten times as long.
 */
export function toOutline(row: OutlineColumns): EntryOutline {
  const { id, sequence, turnId } = row;
  const measurements = parseMeasurements(row.measurements);
  switch (row.kind) {
    case 'user':
      return { id, sequence, kind: 'user', turnId, measurements };
    case 'assistant': {
      const { callNumber, toolCallCount } = row;
      return {
        id,
        sequence,
        kind: 'assistant',
        turnId,
        measurements,
        callNumber: callNumber ?? 0,
        toolCallCount: toolCallCount ?? 0,
      };
    }
    case 'tool_result':
      return {
        id,
        sequence,
        kind: 'tool_result',
        turnId,
        measurements,
        callNumber: row.callNumber ?? 0,
        callIndex: row.callIndex ?? 0,
        toolName: row.toolName ?? '',
        isError: row.isError ?? false,
      };
    case 'note':
      return { id, sequence, kind: 'note', turnId, measurements, ...(row.slot !== null && { slot: row.slot }) };
    case 'compaction':
    case 'branch_summary':
      return { id, sequence, kind: row.kind, turnId, measurements };
  }
}

/** Shown for a row whose content was damaged, so that its conversation goes on; `verify` names it (`view_rebuilds`). */
const DAMAGED: readonly ContentPart[] = [{ type: 'text', text: '(This entry is damaged and cannot be read.)' }];

export function toEntry(row: EntryColumns): Entry {
  return {
    ...toOutline(row),
    content: contentProblem(row.content) === null ? row.content : DAMAGED,
    ...(row.originalId !== null && {
      original: {
        contentId: row.originalId,
        bytes: Number(row.originalBytes),
        missingBytes: Number(row.originalMissingBytes),
      },
    }),
  };
}
