import type { RecallKind, RecallPassage } from '../../tools/tool.ts';

export type PassageKind = RecallKind;

/** `entryId` is the compaction's id for a passage of a summary. */
export interface FoundPassage extends RecallPassage {
  readonly conversationId: string;
  readonly kind: PassageKind;
  /** Of the entry; `null` for a summary. */
  readonly sequence: number | null;
  readonly score: number;
  /** Other conversations in which the same text was found; absent: none. */
  readonly alsoIn?: readonly string[];
}
