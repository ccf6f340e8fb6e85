import type { ListedEntry, StartTaskOptions } from './types.ts';

/** A run whose history Temporal keeps after its conversation was deleted: ids and counts, no text. */
export interface WorkflowRun {
  readonly workflowId: string;
  /** `null` for one that began no turn: it may be there, or not. */
  readonly runId: string | null;
}

export interface ImportConversationOptions extends Pick<
  StartTaskOptions,
  'agent' | 'model' | 'preset' | 'workspace' | 'user'
> {
  /** Lines of the file, separated by line feeds only: Node's `readline` also takes U+2028 for the end of one. */
  readonly lines: AsyncIterable<string>;
  /**
   * Whom memories of the file are kept for, where the conversation has neither workspace nor user of its own: those of its agent.
   * Default: nobody, and memories of a workspace or a user are left out.
   */
  readonly memoriesOf?: { readonly workspace?: string; readonly user?: string };
}

export interface ImportedConversation {
  readonly conversationId: string;
  readonly turns: number;
  readonly entries: number;
  /** How many memories came with it, and whom they are shown to. They are data there, whoever the file says they are from. */
  readonly memories: readonly {
    readonly scope: 'agent' | 'user' | 'workspace';
    readonly scopeName: string;
    readonly count: number;
  }[];
}

/** An entry with its whole original. */
export interface OpenedEntry extends Omit<ListedEntry, 'kind'> {
  /** `summary`: the id was a compaction's; the content is its summary, number and turn are those of its marker. */
  readonly kind: ListedEntry['kind'] | 'summary';
  readonly conversationId: string;
  /** `null` when the content shows everything. */
  readonly original: Uint8Array | null;
}

/** Which entries of a conversation's active branch. */
export interface EntryPage {
  readonly conversationId: string;
  /** Only entries after it, the first ones: `hasMore` means later ones. Default: the newest, and `hasMore` means earlier ones. */
  readonly afterSequence?: number;
  /** Only entries before it. */
  readonly beforeSequence?: number;
  /** At most 1,000. Default: 100. */
  readonly limit?: number;
}

/** Conversations as a whole: out of the database, in again, and away. */
export interface ConversationArchive {
  /**
   * Writes what was said in an idle conversation as lines of JSON: originals byte for byte, all branches, summaries, memories.
   * @param options.write awaited line by line; what it throws ends the export and comes back as it is
   * @throws HoldfastClientError `conversation_not_found`, `conversation_busy` (also while a message waits)
   */
  exportConversation(options: {
    readonly conversationId: string;
    readonly write: (line: string) => Promise<void> | void;
  }): Promise<void>;
  /**
   * Stores what `exportConversation` wrote, under the same ids; whole or not at all. A file is data: agent, model, preset, workspace,
   * user and limits are of who imports it, as for a new conversation.
   * @throws HoldfastClientError `conversation_exists`, `conversation_file_invalid`
   */
  importConversation(options: ImportConversationOptions): Promise<ImportedConversation>;
  /**
   * Deletes an idle conversation for good: rows, search index, memories learned in it.
   * @returns the runs whose histories Temporal still keeps
   * @throws HoldfastClientError `conversation_not_found`, `conversation_busy`
   */
  deleteConversation(conversationId: string): Promise<readonly WorkflowRun[]>;
  /**
   * The entries around an entry on its branch, itself included, oldest first; by a compaction's id those around its marker.
   * @param options.count before and after it
   * @throws HoldfastClientError `entry_not_found`
   */
  listEntriesAround(options: { readonly entryId: string; readonly count: number }): Promise<ListedEntry[]>;
  /**
   * How many entries the active branch has: what `listEntries` would list in all.
   * @param options.beforeSequence only those before it
   * @throws HoldfastClientError `conversation_not_found`
   */
  countEntries(options: { readonly conversationId: string; readonly beforeSequence?: number }): Promise<number>;
  /**
   * The id of the entry with a sequence, on whatever branch.
   * @throws HoldfastClientError `conversation_not_found`, `entry_not_found`
   */
  findEntryId(options: { readonly conversationId: string; readonly sequence: number }): Promise<string>;
}
