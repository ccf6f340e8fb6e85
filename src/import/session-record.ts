import type { ContentPart } from '../context/log/content.ts';
import type { Arrangement } from './read/arrangement.ts';

/** What all formats of recorded sessions come down to, in the order in which it happened. */
export type SessionRecord = UntimedRecord & {
  /** When it was recorded. Default: the file does not say. */
  readonly at?: Date;
};

type UntimedRecord =
  /** A session begins; a file may hold several. */
  | { readonly kind: 'session'; readonly id: string | null }
  /** What neither user nor model said: system prompt, developer messages, notices. In force until the next one in its slot. */
  | { readonly kind: 'instructions'; readonly slot: string; readonly text: string }
  | { readonly kind: 'user'; readonly content: readonly ContentPart[] }
  /** One answer of the model with all its tool calls, whose indexes count from 0. */
  | {
      readonly kind: 'assistant';
      readonly content: readonly ContentPart[];
      /** As the file names it, without provider. */
      readonly model?: string;
    }
  | {
      readonly kind: 'tool_result';
      /** The provider's id of the call. */
      readonly callId: string;
      readonly isError: boolean;
      readonly content: readonly ContentPart[];
    }
  /** The recording agent compacted here; its summary is not imported, since the originals are. */
  | { readonly kind: 'compacted' };

/** Takes one parsed value of the file after another. Keeps at most the answer that is still open. */
export interface SessionImporter {
  /** The records that the value completes. */
  read(value: unknown): readonly SessionRecord[];
  /** What was open when the file ended. */
  end(): readonly SessionRecord[];
}

/** How much of what a file held became no record, by name. Nothing is skipped without being counted here. */
export interface ImportTally {
  /** Known to the importer and nothing that the model saw, or a copy of what was imported. */
  leftOut(name: string): void;
  /** Not known to the importer. */
  unknown(name: string): void;
}

/** How the files of one agent are read. */
export interface FileFormat {
  readonly importer: (tally: ImportTally) => SessionImporter;
  /** Of a file of lines. */
  readonly arrangement: (tally: ImportTally) => Arrangement;
}
