import { setTimeout as delay } from 'node:timers/promises';
import type { CollectingSink } from './output-sink.ts';
import { wholeCharacters } from '../files/text.ts';

/** What a call has written so far. */
export interface PartialOutput {
  /** Beginning and end, at most `PARTIAL_CHARACTERS` and a line between them. */
  readonly text: string;
  /** Bytes written. */
  readonly bytes: number;
}

/** Takes what was written so far; never throws, because a call must not fail for it. */
export type KeepPartialOutput = (partial: PartialOutput) => Promise<void>;

/** Characters that are kept: enough to see how far a command came, few enough for one small row a second. */
const PARTIAL_CHARACTERS = 4_000;

/** Milliseconds that an aborted call waits for its rest to be kept: a stop must not wait for a database. */
const FLUSH_MILLISECONDS = 300;

/** Milliseconds between two looks. What was written since the last one is not known after a crash. */
const INTERVAL_MILLISECONDS = 1_000;

export interface PartialOutputWatch {
  /** Keeps the rest, for whoever words the result of a call that was aborted. */
  flush(): Promise<void>;
  end(): void;
}

/** Hands on what a call has written, once a second while there is something new. */
export function watchPartialOutput(sink: CollectingSink, keep: KeepPartialOutput): PartialOutputWatch {
  let keptBytes = 0;
  let keeping = Promise.resolve();
  const look = (): Promise<void> =>
    (keeping = keeping.then(async () => {
      const { bytes } = sink;
      if (bytes === keptBytes) return;
      keptBytes = bytes;
      await keep({ text: shorten(sink.written()), bytes });
    }));
  const timer = setInterval(() => void look(), INTERVAL_MILLISECONDS);
  return {
    flush: () => Promise.race([look(), delay(FLUSH_MILLISECONDS, undefined, { ref: false })]),
    end: () => clearInterval(timer),
  };
}

function shorten(written: { readonly head: string; readonly tail: string; readonly totalCharacters: number }): string {
  const { head, tail, totalCharacters } = written;
  if (totalCharacters <= PARTIAL_CHARACTERS && head.length === totalCharacters) return head;
  const half = PARTIAL_CHARACTERS / 2;
  const first = wholeCharacters(head.slice(0, half));
  const last = tail.slice(-half);
  return `${first}\n[… ${totalCharacters - first.length - last.length} characters …]\n${last}`;
}
