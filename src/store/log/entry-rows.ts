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
  return sql`e.id, e.sequence, e.kind, e.slot, e.turn_id, e.call_number, e.call_index, e.tool_name, e.is_error,
    e.measurements`;
}

/** @param held ids whose content is not read again: `null` */
export function entryColumns(sql: Queries, held: readonly string[] = []) {
  const content =
    held.length === 0
      ? sql`e.content`
      : sql`case when e.id = any(${[...held]}::uuid[]) then null else e.content end as content`;
  return sql`${outlineColumns(sql)}, ${content}, e.original_id, o.bytes as original_bytes,
    o.missing_bytes as original_missing_bytes`;
}

/** Constraints of the table say which kinds have which columns. */
export function toOutline(row: OutlineColumns): EntryOutline {
  const { id, sequence, kind, turnId, slot, callNumber, callIndex, toolName, isError } = row;
  return {
    id,
    sequence,
    kind,
    turnId,
    measurements: parseMeasurements(row.measurements),
    ...(slot !== null && { slot }),
    ...(callNumber !== null && { callNumber }),
    ...(callIndex !== null && { callIndex }),
    ...(toolName !== null && { toolName }),
    ...(isError !== null && { isError }),
  };
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

/**
 * The entries of the views that this process read last, by conversation and id: behind a restored backup other entries have the same
 * sequence. An entry never changes, and each step shows all of the step before it: a view of 130,000 tokens is half a megabyte to send,
 * parse and throw away.
 */
const held = new Map<string, ReadonlyMap<string, Entry>>();

/** Of text and media, all held entries together: views of a hundred turns with large windows. */
const MOST_HELD_BYTES = 64 * 1_024 * 1_024;
let heldBytes = 0;

export function heldEntries(conversationId: string): ReadonlyMap<string, Entry> {
  return held.get(conversationId) ?? new Map<string, Entry>();
}

/** Keeps the entries of a view instead of those of the conversation's last one, and those of the newest views. */
export function holdEntries(conversationId: string, entries: readonly Entry[]): void {
  release(conversationId);
  held.set(conversationId, new Map(entries.map((entry) => [entry.id, entry])));
  heldBytes += bytesOf(entries);
  for (const oldest of held.keys()) {
    if (heldBytes <= MOST_HELD_BYTES) break;
    release(oldest);
  }
}

function release(conversationId: string): void {
  heldBytes -= bytesOf(heldEntries(conversationId).values());
  held.delete(conversationId);
}

function bytesOf(entries: Iterable<Entry>): number {
  let bytes = 0;
  for (const { measurements } of entries) bytes += measurements.bytes;
  return bytes;
}
