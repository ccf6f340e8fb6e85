import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { pick } from 'stream-json/filters/pick.js';
import { parser } from 'stream-json/parser.js';
import { streamValues } from 'stream-json/streamers/stream-values.js';

/** Where the messages stand in a JSON document. */
export type DocumentShape =
  /** `[message, …]` */
  | 'messages'
  /** `[{"messages": […]}, …]` */
  | 'conversations'
  /** `{"messages": […]}` */
  | 'conversation';

export type DocumentElement =
  | { readonly kind: 'message'; readonly value: unknown }
  /** The messages that follow belong to the next conversation of the document. */
  | { readonly kind: 'conversation'; readonly id: string | null };

/** Properties that hold a conversation's messages. */
const LISTS = new Set(['messages', 'traj']);
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const IDS = new Set(['sessionId', 'id', 'task_id', 'session_id']);

interface Place {
  readonly conversation: number;
  readonly isMessage: boolean;
}

/** What stands at a path of the document; `null` when nobody needs it. */
function placeOf(path: readonly (string | number | null)[], shape: DocumentShape): Place | null {
  const [first, second, third] = path;
  if (shape === 'messages')
    return path.length === 1 && typeof first === 'number' ? { conversation: 0, isMessage: true } : null;
  const [conversation, list, index] = shape === 'conversation' ? [0, first, second] : [Number(first), second, third];
  const depth = shape === 'conversation' ? path.length : path.length - 1;
  if (typeof list !== 'string') return null;
  if (depth === 2 && LISTS.has(list) && typeof index === 'number') return { conversation, isMessage: true };
  return depth === 1 && IDS.has(list) ? { conversation, isMessage: false } : null;
}

/** JSON has no byte of value 0: a disk that lost some of the file fills it with them. A byte order mark is no part of it either. */
async function* jsonBytes(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const bytes = chunk.includes(0) ? Buffer.from(chunk.filter((byte) => byte !== 0)) : chunk;
    const hasMark = isFirst && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    yield hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
    isFirst = false;
  }
}

/**
 * The messages of a JSON document of any size, one held at a time. Bytes that are no UTF-8 are read as U+FFFD.
 * @throws the parser's error where the document ends too early or is no JSON
 */
export async function* readDocument(file: string, shape: DocumentShape): AsyncGenerator<DocumentElement> {
  // The parser runs ahead of the values; what it accepted waits here for its value.
  const places: Place[] = [];
  const filter = (path: readonly (string | number | null)[]): boolean => {
    const place = placeOf(path, shape);
    if (place !== null) places.push(place);
    return place !== null;
  };
  const values = streamValues.asStream();
  const failed = new Promise<never>((_resolve, reject) => {
    pipeline(
      createReadStream(file),
      jsonBytes,
      parser.asStream({ packValues: true, streamValues: false }),
      pick.asStream({ filter }),
      values,
      (error) => {
        if (error !== null && error !== undefined) reject(error);
      },
    );
  });
  // Reported through the iteration below; the promise only keeps it from being unhandled.
  failed.catch(() => undefined);
  let conversation = -1;
  for await (const { value } of values as AsyncIterable<{ readonly value: unknown }>) {
    const place = places.shift();
    if (place === undefined) continue;
    if (place.conversation !== conversation) {
      conversation = place.conversation;
      yield { kind: 'conversation', id: place.isMessage ? null : String(value) };
    }
    if (place.isMessage) yield { kind: 'message', value };
  }
}
