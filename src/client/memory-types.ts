/** What a search looks for, and where. */
export interface MemorySearch {
  /** Either this or `agent`. */
  readonly conversationId?: string;
  readonly agent?: string;
  readonly query: string;
  /** Default: 10, at most 100. */
  readonly limit?: number;
  /** Default: all. */
  readonly kinds?: readonly ('user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary')[];
  /** ISO time: only what was written at or after. */
  readonly after?: string;
  /** ISO time: only what was written before. */
  readonly before?: string;
}

export interface FoundPassage {
  readonly conversationId: string;
  /** The entry; the compaction for a summary. */
  readonly entryId: string;
  readonly kind: string;
  /** Of the entry; `null` for a summary. */
  readonly sequence: number | null;
  readonly createdAt: string;
  /** Tool results: the tool, and the path that it was called with if it takes one. */
  readonly toolName: string | null;
  readonly path: string | null;
  /** Character offset of the passage in its entry. */
  readonly offset: number;
  readonly text: string;
  /**
   * Why it is listed: the query names its id, stands in it as it is, its words do, words like them do,
   * or it stands beside an entry that has them.
   */
  readonly match: 'id' | 'phrase' | 'words' | 'similar' | 'neighbour';
  /** Words of the query that it has, in lower case. */
  readonly matched: readonly string[];
  /** Comparable within one search only. */
  readonly score: number;
}
