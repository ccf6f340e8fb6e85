import type { FileHandle } from 'node:fs/promises';

/** Read and worked on in one go: other turns of the worker wait for it. */
const CHUNK_BYTES = 64 * 1_024;

/** Bytes in which a NUL tells a binary file from a text, as git does it. */
const PROBED_BYTES = 8_000;

export async function isBinary(file: FileHandle): Promise<boolean> {
  const probe = Buffer.alloc(PROBED_BYTES);
  const { bytesRead } = await file.read(probe, 0, PROBED_BYTES, 0);
  return probe.subarray(0, bytesRead).includes(0);
}

/** A stretch of a file. */
export interface Lines {
  /** Number of the first one, from 1. */
  readonly line: number;
  /** The first may go on with the line of the stretch before; all but the last one end here. */
  readonly texts: readonly string[];
  /** Bytes read so far. */
  readonly position: number;
}

/** The lines of a file of any size, with flat memory. */
export async function* readLines(file: FileHandle, signal: AbortSignal): AsyncGenerator<Lines> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let line = 1;
  for (let position = 0, isEnd = false; !isEnd;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    position += bytesRead;
    isEnd = bytesRead === 0;
    const texts = decoder.decode(chunk.subarray(0, bytesRead), { stream: !isEnd }).split('\n');
    yield { line, texts, position };
    line += texts.length - 1;
  }
}
