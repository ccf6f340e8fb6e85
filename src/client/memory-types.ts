/**
 * What a search looks for, and where: in a conversation, or in all of an agent. Without both it is refused: a forgotten argument must not
 * show what the users of other agents said.
 */
export interface MemorySearch {
  /** Either this or `agent`. */
  readonly conversationId?: string;
  readonly agent?: string;
  readonly query: string;
  /** Default: 10, at most 100. */
  readonly limit?: number;
  /** Default: all. */
  readonly kinds?: readonly ('user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary')[];
  /** ISO time: only what was said at or after. */
  readonly after?: string;
  /** ISO time: only what was said before. */
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
   * it stands beside an entry that has them, or its meaning alone is near (with embeddings).
   */
  readonly match: 'id' | 'phrase' | 'words' | 'similar' | 'neighbour' | 'meaning';
  /** Words of the query that it has, in lower case. */
  readonly matched: readonly string[];
  /**
   * Words of the text that the query's words stand for, as they are written there, in lower case: inflected and similar
   * forms too; first what the query asks for word for word, with single spaces, if it stands there. What a reader sets off.
   */
  readonly forms: readonly string[];
  /**
   * Of a passage that answers, the question right before it; of one that asks, what was said right after it, whatever tools were
   * called in between; shortened to 300 characters. Absent where it stands alone.
   */
  readonly neighbour?: {
    readonly says: 'question' | 'answer';
    readonly entryId: string;
    /** The branch that it was said on, when that is not the active one. */
    readonly branch?: number;
    readonly text: string;
  };
  /** Branch on which it was said; a summary: on which it was made. */
  readonly branch: number;
  /** Other conversations in which the same text was found; absent: none. */
  readonly alsoIn?: readonly string[];
  /** Whether it lies on the path that its conversation goes on with. */
  readonly onActiveBranch: boolean;
  /** Comparable within one search only. */
  readonly score: number;
}

export interface ReindexOptions {
  /** Default: all. */
  readonly conversationId?: string;
  /** Stops it after the batch that is under way; what was begun is finished by upkeep, or by the next search there. */
  readonly signal?: AbortSignal;
  /** Told of each conversation that is done. */
  readonly onProgress?: (progress: ReindexProgress) => void;
}

export interface ReindexProgress {
  readonly conversationId: string;
  /** Conversations that are done with this one, and those there are to do. */
  readonly done: number;
  readonly of: number;
  /** Of this one, as in `Reindexed`. */
  readonly passages: number;
}

export interface Reindexed {
  /** Whose index is whole. */
  readonly conversations: number;
  /** Passages that were written, also those of a conversation that is half done. */
  readonly passages: number;
  /** Vectors that were made. */
  readonly embedded: number;
  /** Whether the signal stopped it before all was done. */
  readonly interrupted: boolean;
}

/** One compaction that was committed. */
export interface StoredSummary {
  readonly compactionId: string;
  /** 1 for the first of the conversation. */
  readonly generation: number;
  readonly trigger: 'threshold' | 'overflow' | 'manual' | 'maintenance';
  readonly preset: string;
  readonly form: string;
  /** Branch on which it was made. */
  readonly branch: number;
  /** Whether the model is shown its summary, on the branch that the conversation goes on with. */
  readonly inForce: boolean;
  /** The generation whose summary it updates; `null` for the first of its branch, and for a pass without summary. */
  readonly updatesGeneration: number | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Last entry that the summary covers; `null` for a pass without summary. */
  readonly coveredThroughSequence: number | null;
  /** Entries of its branch up to there. */
  readonly entriesCovered: number;
  /** First entry kept verbatim. */
  readonly firstKeptSequence: number | null;
  /** Entries that the pass clipped, cleared or stripped. */
  readonly operations: number;
  /** Forms that were planned until this one was committed. */
  readonly tries: number;
  /** `provider/model` that wrote the summary; `null` without a model. */
  readonly model: string | null;
  /** Calls that were paid, over all tries. */
  readonly modelCalls: number;
  /** Dollars of these calls; `null` when a price is unknown. */
  readonly cost: number | null;
  /** Input tokens of the calls of the form that was committed, and of them those read from the provider's cache. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  /** `null` for a pass without summary. */
  readonly text: string | null;
  /** The text by its sections; `open`: shown unfolded where summaries are listed, by the preset's choice. */
  readonly sections: readonly { readonly title: string; readonly text: string; readonly open: boolean }[];
  readonly createdAt: string;
  readonly durationMilliseconds: number;
}
