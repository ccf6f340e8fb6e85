import type { RecallPassage } from '../../tools/tool.ts';

export type PassageKind = 'user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary';

/** `entryId` is the compaction's id for a passage of a summary. */
export interface FoundPassage extends RecallPassage {
  readonly conversationId: string;
  readonly kind: PassageKind;
  /** Of the entry; `null` for a summary. */
  readonly sequence: number | null;
  readonly score: number;
  /** Words of the text that the query's words stand for, as they are written there, in lower case: inflected forms too. */
  readonly forms: readonly string[];
}
