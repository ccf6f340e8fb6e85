/** Reads a stream of bytes as UTF-8 and remembers its length, its beginning and its end, whatever its size. */
export interface OutputPreview {
  add(bytes: Uint8Array): void;
  end(): void;
  readonly head: string;
  readonly tail: string;
  /** UTF-16 code units; invalid bytes count as the replacement characters that are shown for them. */
  readonly totalCharacters: number;
}

/** Decoded at once: small strings die young, large ones pile up until the next full collection. */
const SLICE_BYTES = 64 * 1_024;

/** Keeps the first and the last `characters` of a stream. */
export function createOutputPreview(characters: number): OutputPreview {
  // The mark at the start of a file is part of the original; offsets must count it.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let head = '';
  let tail = '';
  let total = 0;

  function take(text: string): void {
    total += text.length;
    if (head.length < characters) head += text.slice(0, characters - head.length);
    tail = text.length >= characters ? text.slice(-characters) : (tail + text).slice(-characters);
  }

  return {
    add(bytes) {
      for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
        take(decoder.decode(bytes.subarray(from, from + SLICE_BYTES), { stream: true }));
      }
    },
    end: () => take(decoder.decode()),
    get head() {
      return head;
    },
    get tail() {
      return tail;
    },
    get totalCharacters() {
      return total;
    },
  };
}
