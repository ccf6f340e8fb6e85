import type { z } from 'zod';
import type { ContentPart, MediaPart } from '../context/log/content.ts';

/**
 * What running a tool twice does: `none` reads only, `idempotent` may be repeated with the same
 * idempotency key, `once` must never be repeated on Holdfast's own decision.
 */
export type ToolEffect = 'none' | 'idempotent' | 'once';

/** What a tool gets besides its input. */
export interface ToolContext {
  readonly conversationId: string;
  readonly turnId: string;
  /** Whose conversation it is, as the start said: never what the model says. */
  readonly tenant: string;
  /** The `user` of the start; `null` where it named none. Choose the credentials of a call by it. */
  readonly user: string | null;
  /** Absolute path of the agent's workspace. */
  readonly workspace: string;
  /**
   * Absolute paths of files and folders that no tool should open: the configuration, files with keys, Holdfast's state. The built-in
   * file tools refuse them, wherever they lie.
   */
  readonly protectedPaths: readonly string[];
  /** The same for every attempt of one call; hand it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Aborted when the turn is stopped, the call times out or the worker has been replaced. */
  readonly signal: AbortSignal;
  /**
   * Rejects if another attempt took the call over: a worker that was frozen for longer than its heartbeats wakes up beside its
   * successor, and `signal` tells it only a moment later. To be asked right before an effect that does not know by the idempotency
   * key that it was had already. Waits while Postgres is away.
   */
  readonly requireClaim: () => Promise<void>;
  /**
   * Characters of a result that are shown to the model; scales with the model's window.
   * What is longer is stored whole and shown clipped with the way to open the rest.
   */
  readonly resultLimit: number;
  /** Takes output of any size in pieces; the original is stored byte for byte. */
  readonly output: OutputSink;
  readonly memory: ToolMemory;
  /** Memories across conversations; `null` when they are not enabled for the agent. */
  readonly memories: ToolMemories | null;
}

/** Collects the bytes of a result on disk, so that no tool holds a gigabyte in memory. */
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
   * What the model sees. Empty when everything was written to `context.output`. Text of any size: beyond 64 MB it is counted and lost. A
   * picture or file has at most 50,000,000 characters of base64, or the call fails.
   */
  readonly content: readonly ContentPart[] | string;
  /** The model is told that the call failed. */
  readonly isError?: boolean;
  /**
   * What the result is compared by instead of `content`, which names a duration, a time or another thing that is different each time: a
   * call that comes back with the same again and again is a loop (`limits.repeatedCalls`). What was written to `context.output` is
   * compared with it.
   */
  readonly comparedBy?: string;
  /** Replaces the plan note, which stays in the view whatever is compacted. At most 60,000 characters, or the call fails. */
  readonly plan?: string;
  /** A rule that stands in every later request of the conversation, whatever is compacted. At most 4,000 characters, or the call fails. */
  readonly pin?: string;
}

interface ApprovalCheck<Input extends z.ZodType> {
  needed(input: z.output<Input>): boolean;
}

export interface ToolDefinition<Input extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_` and `-`; at most 64 characters. */
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly effect: ToolEffect;
  /** Runs alone and in order among the calls of one answer. Default: false. */
  readonly exclusive?: boolean;
  /** Milliseconds until the call is aborted. Default: 120,000. */
  readonly timeout?: number;
  /**
   * Whether a person must allow a call before it runs: all calls, or those for which the function says so. The turn waits
   * without holding a worker. Default: false; agents can require approvals of any tool too (`approvals` in `holdfast.yaml`).
   * A method for the same reason as `run`; it must decide the same each time, from the input alone.
   */
  readonly approval?: boolean | ApprovalCheck<Input>['needed'];
  /**
   * Runs one call. What it throws becomes an error result with the message, so say what the model can do about it.
   * A method, because methods are compared bivariantly: a list can then hold tools of different inputs.
   */
  run(input: z.output<Input>, context: ToolContext): Promise<ToolResult>;
}
