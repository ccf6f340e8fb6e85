import type { ContentPart } from './content.ts';
import type { Measurements } from './measurements.ts';

export const ENTRY_KINDS = ['user', 'assistant', 'tool_result', 'compaction', 'branch_summary', 'note'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Where a note stands in the view; the newest note of a slot counts. The columns of a table hold places of this list. */
export const NOTE_SLOTS = ['rules', 'memories', 'continuation', 'plan'] as const;
export type NoteSlot = (typeof NOTE_SLOTS)[number];

/**
 * An entry without its content: all that planning reads. Of a conversation of a million tokens
 * the outlines are a few hundred kilobytes.
 */
export interface EntryOutline {
  readonly id: string;
  /** Order of arrival within the conversation, from 1, without gaps. */
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly slot?: NoteSlot;
  readonly turnId: string;
  /** Assistant entries and tool results: the model call that made the group. */
  readonly callNumber?: number;
  /** Tool results: the call's position among the calls of its answer, from 0. */
  readonly callIndex?: number;
  readonly toolName?: string;
  /** Tool results: whether the tool reported a failure. */
  readonly isError?: boolean;
  readonly measurements: Measurements;
}

export interface Entry extends EntryOutline {
  readonly content: readonly ContentPart[];
  /**
   * Present when `content` shows less than what was produced: the pieces that hold the original,
   * its length in bytes, and how many bytes were beyond the storage limit and are lost.
   */
  readonly original?: { readonly contentId: string; readonly bytes: number; readonly missingBytes: number };
}
