import type { RecallPassage } from '../../tools/tool.ts';

export type PassageKind = 'user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary';

/** `entryId` is the compaction's id for a passage of a summary. */
export interface FoundPassage extends RecallPassage {
  readonly conversationId: string;
  readonly kind: PassageKind;
  /** Of the entry; `null` for a summary. */
  readonly sequence: number | null;
  readonly score: number;
  /**
   * Why it is listed: the query names its id, stands in it as it is, its words do, words like them do,
   * or it stands beside an entry that has them.
   */
  readonly match: 'id' | 'phrase' | 'words' | 'similar' | 'neighbour';
  /** Words of the query that it has. */
  readonly matched: readonly string[];
}
