import type { Database } from './database.ts';
import type { OriginalReference } from './entries.ts';

/** Bytes of one piece: small enough for a query's memory, large enough to keep rows few. */
export const PIECE_BYTES = 262_144;
/** Bytes stored of one original; what is beyond is counted and dropped (design.md §6). */
export const LARGEST_ORIGINAL_BYTES = 67_108_864;

/**
 * Stores a stream of bytes as they are, in pieces, outside any turn transaction; nothing shows until an
 * entry refers to it. Each call makes a content of its own.
 */
export async function writePieces(
  _sql: Database,
  _conversationId: string,
  _bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<OriginalReference> {
  throw new Error('unwritten');
}

/** The bytes of a content in order, a piece at a time, from byte `offset` (default 0) on. */
export async function* readPieces(
  _sql: Database,
  _contentId: string,
  _offset?: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  throw new Error('unwritten');
}
