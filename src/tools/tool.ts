import type { z } from 'zod';
import type { ContentPart, MediaPart } from '../context/log/content.ts';

/**
 * Whether a call may run again after a crash. `none`: yes, because it only reads. `idempotent`: yes, with the same idempotency key.
 * `once`: no, because a second call would do harm.
 */
export type ToolEffect = 'none' | 'idempotent' | 'once';

/** What a tool gets besides its input. */
export interface ToolContext {
  /** Of the call. */
  readonly conversationId: string;
  /** Of the call. */
  readonly turnId: string;
  /** Tenant of the client that started the conversation. The model cannot change it. */
  readonly tenant: string;
  /** The `user` of the start, or `null`. Choose the credentials of a call by it. */
  readonly user: string | null;
  /** Absolute path of the agent's workspace. */
  readonly workspace: string;
  /**
   * Absolute paths that no tool should open: the configuration, files with keys, Holdfast's state. The built-in file tools refuse them.
   */
  readonly protectedPaths: readonly string[];
  /** The same for every attempt of one call. Pass it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the turn is stopped, the call times out or another worker has taken it over. */
  readonly signal: AbortSignal;
  /**
   * Rejects if another attempt has taken the call over, as after a freeze of this worker. Call it right before an effect that does not
   * check the idempotency key. Waits while Postgres is away.
   */
  readonly requireClaim: () => Promise<void>;
  /**
   * Characters of a result that the model sees; depends on the model's window. A longer result is stored whole. The model sees its beginning
   * and end, and how to open the rest.
   */
  readonly resultLimit: number;
  /** Takes long output in pieces, which are stored byte for byte. */
  readonly output: OutputSink;
  /** Searches and opens what the conversation holds, as `recall_search` and `recall_open` do. */
  readonly memory: ToolMemory;
  /** Reads and writes memories across conversations. `null`: the agent has none. */
  readonly memories: ToolMemories | null;
}

/** Collects the bytes of a result, large ones on disk, so that no tool holds a gigabyte in memory. */
export interface OutputSink {
  /** Writes land in order, awaited or not. Bytes must not be changed until the write has resolved. */
  write(chunk: Uint8Array | string): Promise<void>;
  /** Bytes written so far. */
  readonly bytes: number;
}

/** What recall tools read; implemented by the store. */
export interface ToolMemory {
  search(query: string, limit: number, filter?: RecallFilter): Promise<readonly RecallPassage[]>;
  /** Entries so long that a search finds nothing of their end: a few, the newest first. */
  searchedInPart(): Promise<readonly PartlySearched[]>;
  /** Entries that are not indexed yet: no search finds them. */
  countUnindexed(): Promise<number>;
  /** `null` when the conversation has no such entry. Offsets and limits in characters. */
  open(entryId: string, offset: number, limit: number): Promise<RecalledPage | null>;
  /**
   * So many entries before and after an entry, itself among them; `null` when the conversation has no such entry. `of_another_user`:
   * a memory comes from it, but its conversation is not this user's, so it can be opened by itself only.
   */
  around(entryId: string, count: number): Promise<RecalledRange | 'of_another_user' | null>;
}

/** In characters. */
export interface PartlySearched {
  readonly entryId: string;
  readonly characters: number;
  /** From the beginning. */
  readonly searched: number;
}

/** What may be found. */
export interface RecallFilter {
  readonly kinds?: readonly RecallKind[];
  /** ISO time: only what was said at or after. */
  readonly after?: string;
  /** ISO time: only what was said before. */
  readonly before?: string;
}

export type RecallKind = 'user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary';

/** A piece of an entry. */
export interface RecalledPage {
  readonly text: string;
  readonly totalCharacters: number;
  readonly kind: string;
  /** Images and files of the entry. */
  readonly media?: readonly MediaPart[];
  /** The branch that it was said on, when that is not the active one. */
  readonly branch?: number;
  /** Another conversation, in which a memory of this agent, user or workspace was learned from the entry. */
  readonly conversationId?: string;
}

/** What was said around an entry, on its branch. */
export interface RecalledRange {
  /** Oldest first. */
  readonly entries: readonly RecalledEntry[];
  /** The branch of the entry that was asked for, when that is not the active one. */
  readonly branch?: number;
  /** Another conversation, in which a memory of this agent, user or workspace was learned from the entry. */
  readonly conversationId?: string;
}

/** An entry among those around it. */
export interface RecalledEntry {
  readonly entryId: string;
  readonly kind: string;
  readonly toolName: string | null;
  readonly createdAt: string;
  readonly text: string;
  /** More of it is stored than `text` shows. */
  readonly isClipped: boolean;
  /** The branch that it was said on, when that is not the active one. */
  readonly branch?: number;
}

/** What memory tools write; implemented by the store. */
export interface ToolMemories {
  remember(memory: MemoryToKeep): Promise<KeptMemory>;
  /** `false` when the agent, its user and its workspace have no such memory. Rejects when it is what another user said. */
  forget(id: string): Promise<boolean>;
}

export interface KeptMemory {
  readonly id: string;
  /** False: the same was remembered before. */
  readonly isNew: boolean;
  /** Memories that were named, but over already, and what had taken their place and is superseded instead. */
  readonly supersededInstead: readonly { readonly named: string; readonly instead: string }[];
}

export interface MemoryToKeep {
  readonly text: string;
  readonly kind: 'fact' | 'preference' | 'decision';
  /** Default: the user where the conversation names one, otherwise the workspace. */
  readonly scope?: 'agent' | 'user' | 'workspace' | undefined;
  /** Ids of memories that it takes the place of. */
  readonly supersedes: readonly string[];
  readonly confidence: number;
  readonly expiresInDays: number | null;
}

export interface RecallPassage {
  readonly entryId: string;
  readonly kind: string;
  readonly createdAt: string;
  /** Tool results: the tool, and the path that it was called with if it takes one. */
  readonly toolName: string | null;
  readonly path: string | null;
  /** Why it was found. */
  readonly match: 'id' | 'phrase' | 'words' | 'similar' | 'neighbour' | 'meaning';
  /** Words of the query that it has. */
  readonly matched: readonly string[];
  /** Words of the text that the query's words stand for, inflected forms too, in lower case and Unicode's form NFKC. First what the query asks for word for word, with single spaces, if it stands there. */
  readonly forms: readonly string[];
  /** The branch that it was said on, when that is not the active one. */
  readonly branch?: number;
  /** Character offset of the passage in its entry. */
  readonly offset: number;
  readonly text: string;
  /** Of a passage that answers, the question before it; of one that asks, the answer behind it. Absent: it stands alone. */
  readonly neighbour?: Neighbour;
}

/** What was said before or after a passage, shortened to 300 characters; tools may have been called in between. */
export interface Neighbour {
  readonly says: 'question' | 'answer';
  readonly entryId: string;
  /** The branch that it was said on, when that is not the active one. */
  readonly branch?: number;
  readonly text: string;
}

export interface ToolResult {
  /**
   * What the model sees. Empty if everything was written to `context.output`. Text over 64 MB is cut there. An image or file over
   * 50,000,000 characters of base64 fails the call.
   */
  readonly content: readonly ContentPart[] | string;
  /** Marks the result as an error for the model. Default: false. */
  readonly isError?: boolean;
  /**
   * Compared instead of `content` to notice a loop (`limits.repeatedCalls`). Set it if `content` has a time or a duration, which differs
   * each time. Default: `content`.
   */
  readonly comparedBy?: string;
  /** Replaces the plan note, which every later request shows. Over 60,000 characters the call fails. */
  readonly plan?: string;
  /** Pins a rule, which every later request shows. Over 4,000 characters the call fails. */
  readonly pin?: string;
}

interface ApprovalCheck<Input extends z.ZodType> {
  needed(input: z.output<Input>): boolean;
}

export interface ToolDefinition<Input extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_` and `-`; at most 64 characters. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** A zod schema. The model gets it as JSON Schema. */
  readonly input: Input;
  /** What happens if a call runs twice. */
  readonly effect: ToolEffect;
  /** Runs alone and in order among the calls of one answer. Default: false. */
  readonly exclusive?: boolean;
  /** Milliseconds until the call is aborted, at most a day. Default: 120,000. */
  readonly timeout?: number;
  /**
   * A person must allow a call before it runs: every call, or those for which the function returns true. The function must decide from the
   * input alone, the same each time. Agents can require approvals of any tool too (`approvals`). Default: false.
   */
  // A method's type for the same reason as `run`.
  readonly approval?: boolean | ApprovalCheck<Input>['needed'];
  /**
   * Runs one call. If it throws, the model reads the message as an error result, so say what the model can do.
   */
  // A method, because methods are compared bivariantly: a list can then hold tools of different inputs.
  run(input: z.output<Input>, context: ToolContext): Promise<ToolResult>;
}
