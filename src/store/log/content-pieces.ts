import { TextDecoder } from 'node:util';
import type { Database, Queries } from '../database/database.ts';
import type { OriginalReference } from './entries.ts';
import { StoreError } from '../database/errors.ts';
import { newId } from '../database/ids.ts';

/** Bytes of one piece: small enough for a query's memory, large enough to keep rows few. */
export const PIECE_BYTES = 262_144;
/** Bytes stored of one original; what is beyond is counted and dropped (design.md §6). */
export const LARGEST_ORIGINAL_BYTES = 67_108_864;

/** Pieces that one query reads: a megabyte. */
const PIECES_PER_PAGE = 4;

/**
 * Stores a stream of bytes as they are, in pieces, outside any turn transaction; nothing shows until an
 * entry refers to it. Each call makes a content of its own.
 */
export async function writePieces(
  sql: Database,
  conversationId: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<OriginalReference> {
  const contentId = newId();
  await sql`insert into contents (id, conversation_id) values (${contentId}, ${conversationId})`;
  const counter = createCounter();
  let number = 0;
  for await (const piece of piecesOf(limited(bytes, counter))) {
    await sql`insert into content_pieces (content_id, number, data) values (${contentId}, ${number}, ${piece})`;
    number += 1;
  }
  const { stored, missing, characters } = counter.end();
  await sql`
    update contents set bytes = ${stored}, missing_bytes = ${missing}, characters = ${characters}
    where id = ${contentId}`;
  return { contentId, bytes: stored, missingBytes: missing };
}

interface Counter {
  take(chunk: Uint8Array): Uint8Array;
  end(): { readonly stored: number; readonly missing: number; readonly characters: number };
}

function createCounter(): Counter {
  const decoder = openDecoder();
  let stored = 0;
  let missing = 0;
  let characters = 0;
  return {
    take(chunk) {
      const kept = chunk.subarray(0, LARGEST_ORIGINAL_BYTES - stored);
      stored += kept.byteLength;
      missing += chunk.byteLength - kept.byteLength;
      characters += decoder.decode(kept, { stream: true }).length;
      return kept;
    },
    end: () => ({ stored, missing, characters: characters + decoder.decode().length }),
  };
}

async function* limited(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  counter: Counter,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield counter.take(chunk);
}

/** Cuts a stream anew, into full pieces and a last shorter one. */
async function* piecesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    while (size + rest.byteLength >= PIECE_BYTES) {
      const cut = PIECE_BYTES - size;
      yield Buffer.concat([...pending, rest.subarray(0, cut)]);
      rest = rest.subarray(cut);
      pending = [];
      size = 0;
    }
    // Copied, because the producer may use its buffer again.
    if (rest.byteLength > 0) pending.push(Uint8Array.from(rest));
    size += rest.byteLength;
  }
  if (size > 0) yield Buffer.concat(pending);
}

/**
 * The bytes of a content in order, a piece at a time.
 * @throws StoreError `content_incomplete` (unknown, or its writer died)
 */
export async function* readPieces(sql: Queries, contentId: string): AsyncGenerator<Uint8Array, void, undefined> {
  const [content] = await sql<{ bytes: string | null }[]>`select bytes from contents where id = ${contentId}`;
  if (content === undefined || content.bytes === null) {
    throw new StoreError('content_incomplete', `content ${contentId} was never written to its end`);
  }
  // Pages and not a cursor, which would keep its connection busy for as long as the reader takes its time.
  for (let next = 0; ; next += PIECES_PER_PAGE) {
    const page = await sql<{ data: Buffer }[]>`
      select data from content_pieces
      where content_id = ${contentId} and number >= ${next} and number < ${next + PIECES_PER_PAGE} order by number`;
    for (const { data } of page) yield data;
    if (page.length < PIECES_PER_PAGE) return;
  }
}

/** Decodes as a reader of the original would see it: U+FFFD for what is not UTF-8, a byte order mark kept. */
export function openDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}
