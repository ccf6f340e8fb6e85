import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ToolError } from '../errors.ts';
import { createSecretMask } from '../runtime/secret-mask.ts';
import type { OutputSink } from '../tool.ts';

/** Bytes of one result that are kept: design.md §6. What is beyond is counted and lost. */
const KEPT_BYTES = 64 * 1_024 * 1_024;

/** Bytes up to which output stays in memory. Most results are smaller, and a file costs a step half a millisecond. */
const HELD_BYTES = 256 * 1_024;
const MOST_HELD_PIECES = 500;

/** Bytes of a piece handed out for storage. */
const PIECE_BYTES = 1_024 * 1_024;

interface OutputSinkOptions {
  /** Characters of beginning and end to remember. */
  readonly previewCharacters: number;
  /** Provider keys to mask. Default: none. */
  readonly secrets?: readonly string[];
}

/** Everything that a tool wrote. */
export interface CollectedOutput {
  /** Bytes after masking, kept or not. */
  readonly bytes: number;
  /** Bytes beyond the limit, which are lost. */
  readonly missingBytes: number;
  /** UTF-16 code units of all bytes read as UTF-8. */
  readonly totalCharacters: number;
  readonly head: string;
  readonly tail: string;
  /** The kept bytes in order, in pieces of at most 1 MB. A piece may end inside a character. May be read again. */
  pieces(): AsyncIterable<Uint8Array>;
}

/** The sink that a call gets, and what its owner does with it. */
export interface CollectingSink extends OutputSink {
  /** What was written so far, keys masked; what a key may begin with is held back until more comes. */
  written(): Pick<CollectedOutput, 'head' | 'tail' | 'totalCharacters'>;
  /** Tells what was written so far from anything else, however long it is. */
  digest(): string;
  /** Ends the collection: later writes are refused. */
  finish(): Promise<CollectedOutput>;
  /** Gives the disk space back. */
  dispose(): Promise<void>;
}

/**
 * Collects output of any size with flat memory. Beyond `HELD_BYTES` it is in a temporary file that has no name any more once it is
 * open, so that it vanishes with the process however that ends.
 */
export function createOutputSink(options: OutputSinkOptions): CollectingSink {
  const mask = createSecretMask(options.secrets ?? []);
  const preview = new OutputPreview(options.previewCharacters);
  const joined = createTextJoin();
  const store = createByteStore();
  let total = 0;
  let finished: Promise<CollectedOutput> | null = null;
  let queue: Promise<void> = Promise.resolve();
  let written = 0;
  const hash = createHash('sha256');

  async function keep(bytes: Uint8Array): Promise<void> {
    preview.add(bytes);
    const room = Math.max(0, KEPT_BYTES - total);
    total += bytes.length;
    if (room > 0) await store.append(bytes.subarray(0, room));
  }

  // Writes that are not awaited by the tool still land in order; after a failed one none follows.
  const enqueue = (work: () => Promise<void>): Promise<void> => (queue = queue.then(work));

  async function collect(): Promise<CollectedOutput> {
    await enqueue(() => keep(mask.push(joined.bytesOf(Buffer.alloc(0)))));
    await enqueue(() => keep(mask.end()));
    preview.end();
    return {
      bytes: total,
      missingBytes: Math.max(0, total - KEPT_BYTES),
      totalCharacters: preview.totalCharacters,
      head: preview.head,
      tail: preview.tail,
      pieces: () => store.pieces(),
    };
  }

  return {
    get bytes() {
      return written;
    },
    write(chunk) {
      if (finished !== null) {
        return Promise.reject(new ToolError('call_over', 'The call is over: its output is closed.'));
      }
      const bytes = joined.bytesOf(chunk);
      written += bytes.length;
      hash.update(bytes);
      const done = enqueue(() => inPieces(bytes, (piece) => keep(mask.push(piece))));
      // A tool that does not await its writes must not bring the worker down; finish() reports the failure.
      done.catch(() => undefined);
      return done;
    },
    written: () => ({ head: preview.head, tail: preview.tail, totalCharacters: preview.totalCharacters }),
    digest: () => hash.copy().digest('hex'),
    finish: () => (finished ??= collect()),
    dispose: () => store.dispose(),
  };
}

/** Two writes may split a character of two code units: its first half waits for the second. */
function createTextJoin() {
  let half = '';
  return {
    bytesOf(chunk: Uint8Array | string): Uint8Array {
      const before = half;
      half = '';
      if (typeof chunk !== 'string') return before === '' ? chunk : Buffer.concat([Buffer.from(before), chunk]);
      const text = before + chunk;
      half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
      return Buffer.from(text.slice(0, text.length - half.length));
    },
  };
}

/** Between two pieces the worker's heartbeats go on. */
async function inPieces(bytes: Uint8Array, take: (piece: Uint8Array) => Promise<void>): Promise<void> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    await take(bytes.subarray(start, start + PIECE_BYTES));
    if (bytes.length > PIECE_BYTES) await setImmediate();
  }
}

function createByteStore() {
  let length = 0;
  let held: Buffer[] = [];
  let file: FileHandle | null = null;

  return {
    async append(bytes: Uint8Array): Promise<void> {
      length += bytes.length;
      if (file === null && length <= HELD_BYTES) {
        // Copied, because the tool may write into it again.
        held.push(Buffer.from(bytes));
        // A buffer for each word of a tool that streams words would take ten times their size.
        if (held.length === MOST_HELD_PIECES) held = [Buffer.concat(held)];
        return;
      }
      if (file === null) {
        file = await openUnnamed(tmpdir());
        await writeAll(file, Buffer.concat(held));
        held = [];
      }
      await writeAll(file, bytes);
    },
    async *pieces(): AsyncGenerator<Uint8Array> {
      if (file === null) {
        if (length > 0) yield Buffer.concat(held);
        return;
      }
      for (let position = 0; position < length;) {
        const piece = Buffer.alloc(Math.min(PIECE_BYTES, length - position));
        const { bytesRead } = await file.read(piece, 0, piece.length, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        yield piece.subarray(0, bytesRead);
      }
    },
    async dispose(): Promise<void> {
      await file?.close();
    },
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done);
    done += bytesWritten;
  }
}

async function openUnnamed(directory: string): Promise<FileHandle> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, `holdfast-output-${randomUUID()}`);
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const file = await open(path, O_RDWR | O_CREAT | O_EXCL, 0o600);
  await rm(path);
  return file;
}

/** Decoded at once: small strings die young, large ones pile up until the next full collection. */
const SLICE_BYTES = 64 * 1_024;

/** Reads a stream of bytes as UTF-8 and remembers its length, and its first and last `characters`, whatever its size. */
class OutputPreview {
  head = '';
  tail = '';
  /** UTF-16 code units; invalid bytes count as the replacement characters that are shown for them. */
  totalCharacters = 0;
  readonly #characters: number;
  // The mark at the start of a file is part of the original; offsets must count it.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(characters: number) {
    this.#characters = characters;
  }

  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      this.#take(this.#decoder.decode(bytes.subarray(from, from + SLICE_BYTES), { stream: true }));
    }
  }

  end(): void {
    this.#take(this.#decoder.decode());
  }

  #take(text: string): void {
    this.totalCharacters += text.length;
    if (this.head.length < this.#characters) this.head += text.slice(0, this.#characters - this.head.length);
    this.tail = (text.length >= this.#characters ? text : this.tail + text).slice(-this.#characters);
  }
}
