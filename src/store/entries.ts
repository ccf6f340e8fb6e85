import type { ContentPart } from '../context/content.ts';
import type { Entry, EntryKind } from '../context/entry.ts';
import type { Measurements } from '../context/measurements.ts';
import type { Database } from './database.ts';

/** Content about to be stored, with what was counted of it. */
export interface NewContent {
  readonly content: readonly ContentPart[];
  readonly measurements: Measurements;
  /** The whole of a clipped content, written to pieces before. */
  readonly original?: OriginalReference;
}

export interface OriginalReference {
  readonly contentId: string;
  /** Bytes stored. */
  readonly bytes: number;
  /** Bytes beyond the storage limit, lost. */
  readonly missingBytes: number;
}

/** An entry with what a reader wants to know besides. */
export interface StoredEntry extends Entry {
  readonly conversationId: string;
  readonly parentId: string | null;
  readonly createdAt: string;
  /** User entries: the message that it was. */
  readonly messageId: string | null;
  /** Compaction markers: the compaction that was committed. */
  readonly compactionId: string | null;
}

export interface EntryPageRequest {
  readonly conversationId: string;
  /** Entries after this sequence. Default: 0. */
  readonly after?: number;
  /** Entries before this sequence; without `after` the newest ones are returned. */
  readonly before?: number;
  /** At most 1,000. Default: 100. */
  readonly limit?: number;
  readonly kinds?: readonly EntryKind[];
}

/** A page of the conversation's active branch, oldest first. */
export async function listEntries(_sql: Database, _request: EntryPageRequest): Promise<StoredEntry[]> {
  throw new Error('unwritten');
}

/** One entry by its id alone; `null` when there is none. */
export async function getEntry(_sql: Database, _entryId: string): Promise<StoredEntry | null> {
  throw new Error('unwritten');
}

export interface OpenedText {
  readonly text: string;
  readonly totalCharacters: number;
  /** Entry kind, or `summary`. */
  readonly kind: string;
}

/**
 * Characters of an entry's original (the pieces when it was clipped), or of a summary when the id is
 * a compaction's. Bytes that are not UTF-8 show as U+FFFD. Offsets and limits in UTF-16 code units.
 * `null` when the conversation has no such entry or summary.
 */
export async function openEntry(
  _sql: Database,
  _request: {
    readonly conversationId: string;
    readonly id: string;
    readonly offset: number;
    readonly limit: number;
  },
): Promise<OpenedText | null> {
  throw new Error('unwritten');
}

export interface NoteRequest extends NewContent {
  readonly turn: import('../turn/turn-reference.ts').TurnReference;
  readonly slot: import('../context/entry.ts').NoteSlot;
  /** Refused as `head_moved` when another entry is the newest; leave out to append at whatever is. */
  readonly headEntryId?: string;
  /** The same key appends once: the entry that stands is returned. */
  readonly key: string;
}

/**
 * Appends a note of a slot, for example the continuation after a cut answer.
 * @throws StoreError `stale_epoch`, `head_moved`
 */
export async function appendNote(_sql: Database, _note: NoteRequest): Promise<{ readonly entryId: string }> {
  throw new Error('unwritten');
}
