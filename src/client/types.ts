import type { DecisionMethods, WaitingCall } from './decision-types.ts';
import type { ProviderMethods } from './provider-types.ts';
import type { ConversationArchive, EntryPage, OpenedEntry } from './archive-types.ts';
import type { BranchCommands } from './branch-types.ts';
import type { FoundPassage, MemorySearch, Reindexed, ReindexOptions, StoredSummary } from './memory-types.ts';
import type { ContentPart } from '../context/log/content.ts';
import type { EntryKind } from '../context/log/entry.ts';
import type { WindowBreakdown } from '../context/plan/plan.ts';
import type { View } from '../context/view/view.ts';
import type { CostGroup, CostRow } from '../store/conversations/costs.ts';
import type { LearnedWindow, ServedModel } from '../store/providers/model-facts.ts';
import type { CompactionLineage } from '../store/compactions/lineage.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import type { Page } from './page.ts';
import type { EndedTurn, TurnSummary } from './turn-summary.ts';
import type { WatchOptions, WatchUpdate } from './watch-types.ts';

export type { LiveTextUpdate, TimelineEvent, WatchOptions, WatchUpdate } from './watch-types.ts';

export type { ChangedEntry, CompactionLineage, CoveredEntry } from '../store/compactions/lineage.ts';
export type { StoredSummary } from './memory-types.ts';
export type { Page } from './page.ts';
export type { EndedTurn, TurnSummary } from './turn-summary.ts';

/**
 * Text, or text with images and files. A file of text (`text/*`, JSON, XML, YAML) is stored as text; a file of another type than PDF is
 * refused with `invalid_argument`.
 */
export type MessageContent = string | readonly ContentPart[];

/** A new conversation: its agent, what it sets instead of the agent's own, and the first message. */
export interface StartTaskOptions {
  readonly task: MessageContent;
  /** Name of a configured agent. Default: `default`. */
  readonly agent?: string;
  /** `provider/model` instead of the agent's, for the whole conversation. */
  readonly model?: string;
  /** Compaction preset instead of the agent's. */
  readonly preset?: string;
  /** Absolute path instead of the agent's workspace. */
  readonly workspace?: string;
  /**
   * Whose memories of scope `user` the conversation is shown and writes, where its agent has memory: 1 to 200 characters, no control
   * characters. Default: the agent's `memory.user`.
   */
  readonly user?: string;
  /**
   * Chosen by the caller, 1 to 200 characters, and the id of the first message: a repeated start with it returns the conversation of the
   * first. Default: each start is a new conversation.
   */
  readonly startKey?: string;
}

export interface SendMessageOptions {
  readonly conversationId: string;
  readonly content: MessageContent;
  /** `steer`: enters at the running turn's next step; `queue`: starts the next turn. Default: `steer`. */
  readonly mode?: 'steer' | 'queue';
  /** Chosen by the caller, 1 to 200 characters: what is sent twice to a conversation counts once. Default: a new UUID. */
  readonly messageId?: string;
}

/** What a send returns once its row is written; the turn is rung in the background. */
export interface SentMessage {
  readonly conversationId: string;
  readonly messageId: string;
  /** The same id and content had been sent before: nothing was written. */
  readonly duplicate: boolean;
}

/** A command that found nothing to act on, such as a stop for an idle conversation or a resume of what is done by then: no turn took it. */
export interface ServedCommand {
  readonly turnId: null;
  readonly state: 'served';
  readonly outcome: 'nothing_to_do';
  readonly reason: null;
  /** One sentence for a person. */
  readonly explanation: string;
  readonly text: '';
}

export interface Conversation {
  readonly conversationId: string;
  readonly agent: string;
  readonly model: string | null;
  /** Whose memories of scope `user` it is shown and writes; `null`: those of its agent's own user. */
  readonly user: string | null;
  /** First line of the first message, clipped. */
  readonly title: string;
  readonly createdAt: string;
  /** Of all branches: also the sequence of the newest entry. `countEntries` counts those of the active one. */
  readonly entryCount: number;
  /** Number of the newest event of the timeline: what `watch` takes as `afterSequence` to tell only what comes. */
  readonly eventCount: number;
  readonly waitingMessages: number;
  /** Secrets of well-known forms that were replaced in summaries and in what they were made from. */
  readonly secretsRedacted: number;
  /** Tool calls of the open turn that wait for a person. */
  readonly waitingCalls: readonly WaitingCall[];
  /** The newest turn; `null` before the first one began. */
  readonly turn: TurnSummary | null;
}

export interface ListedEntry {
  readonly entryId: string;
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly slot: string | null;
  readonly turnId: string;
  readonly callNumber: number | null;
  readonly callIndex: number | null;
  readonly toolName: string | null;
  readonly isError: boolean;
  readonly createdAt: string;
  readonly content: readonly ContentPart[];
  /** Bytes of the original when `content` shows less. */
  readonly originalBytes: number | null;
  /** Markers: the compaction that was committed there. */
  readonly compactionId: string | null;
  /** Tool results: what attempts reported that had been replaced, in order of arrival. The model never sees it. */
  readonly lateResults: readonly LateResult[];
}

/** The report of an attempt of a tool call that came after the call had got its result. */
export interface LateResult {
  /** From 1. */
  readonly attempt: number;
  readonly workerIdentity: string;
  readonly isError: boolean;
  readonly content: readonly ContentPart[];
  readonly receivedAt: string;
}

/** What fills the window of the next call, and the numbers in force, in tokens. */
export interface ContextReport extends WindowBreakdown {
  readonly model: string;
  readonly preset: string;
  readonly trigger: number;
  readonly target: number;
}

/** Which model call of a conversation; each part that is left out means the newest. */
export interface ModelCallAddress {
  /** Number of the turn in its conversation, from 1. */
  readonly turn?: number;
  /** Number of the call in its turn, from 1. */
  readonly callNumber?: number;
  /** Number of the try, from 1: a call is tried again after a failure or the loss of its worker. */
  readonly attempt?: number;
}

/** One try of a model call. */
export interface PastCall {
  readonly turn: number;
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  readonly model: string;
  /** `registered` without an end: under way, or its worker died and nobody knows whether the call was paid. */
  readonly state: 'registered' | 'answered' | 'failed';
  /** Newest entry that the request showed. */
  readonly headEntryId: string;
  readonly estimatedTokens: number;
  /** Input tokens that the provider reported, cached ones included; `null` when it reported none. */
  readonly reportedTokens: number | null;
  readonly startedAt: string;
}

/** What the model saw at a call, rebuilt from the log. */
export interface PastView {
  readonly call: PastCall;
  readonly view: View;
  /** Half of the SHA-256 of the rebuilt view; equal to `sentFingerprint` when it is the one that was sent, byte for byte. */
  readonly fingerprint: string;
  readonly sentFingerprint: string;
  /** Version of the code that rendered this view, and of the one that rendered what was sent: other versions may differ. */
  readonly rendererVersion: number;
  readonly sentRendererVersion: number;
}

/**
 * Starts, steers, watches and searches conversations. Every method that writes returns after its
 * row is committed; the turn is rung in the background, and rows that nobody rang for are found by upkeep.
 */
export interface HoldfastClient extends ConversationArchive, BranchCommands, DecisionMethods, ProviderMethods {
  /** @throws HoldfastClientError `message_id_reused` (the start key belongs to another task), `namespace_differs`, as all that send */
  startTask(options: StartTaskOptions): Promise<SentMessage>;
  sendMessage(options: SendMessageOptions): Promise<SentMessage>;
  /** Ends the running turn: what finished is kept, the conversation goes on with the next message. */
  stop(options: { readonly conversationId: string; readonly messageId?: string }): Promise<SentMessage>;
  /** @param options.focus what the summary should keep above all. */
  requestCompaction(options: {
    readonly conversationId: string;
    readonly focus?: string;
    readonly messageId?: string;
  }): Promise<SentMessage>;
  /**
   * Goes on with the task of a turn that ended before it was done, without a new message, and raises limits. What is raised is
   * added to what the last turn left, and for good to those limits of the conversation that are reached.
   * @throws HoldfastClientError `nothing_to_resume`, `limit_not_raised` (a limit that is reached is not among them, or by too little),
   *   `resume_waiting` (one was sent that no worker has taken yet), `conversation_busy` (its branch is being changed)
   */
  resume(options: {
    readonly conversationId: string;
    readonly raise?: Partial<ConversationCounts>;
    readonly messageId?: string;
  }): Promise<SentMessage>;
  getConversation(conversationId: string): Promise<Conversation>;
  /**
   * Whether Temporal has no open workflow of the turn that runs, as after a terminate: what is sent next begins a turn, and upkeep or
   * that turn ends the lost one as `interrupted`. `false` also when no turn runs, or Temporal does not answer within 2 s.
   */
  isTurnLost(conversationId: string): Promise<boolean>;
  /**
   * Newest first.
   * @param options.limit at most 500. Default: 50
   * @param options.before id of the last conversation of the page before
   */
  listConversations(options?: { readonly limit?: number; readonly before?: string }): Promise<Page<Conversation>>;
  /**
   * Of the active branch, in order of sequence; without bounds the newest.
   * @throws HoldfastClientError `conversation_not_found`, as all that read a conversation
   */
  listEntries(options: EntryPage): Promise<Page<ListedEntry>>;
  /** Oldest first. @param options.query only summaries whose text matches. */
  listSummaries(options: { readonly conversationId: string; readonly query?: string }): Promise<StoredSummary[]>;
  /** From each summary, over generations, to the exact entries that it covers; and what each pass shows shorter. Oldest first. */
  readLineage(conversationId: string): Promise<CompactionLineage[]>;
  /**
   * Ranked passages over everything that a conversation, or all conversations of an agent, ever held:
   * originals, summaries, notes and tool results, also what compaction took out of the window.
   */
  searchMemory(options: MemorySearch): Promise<FoundPassage[]>;
  /**
   * Entries of a conversation or an agent that no search finds yet. A search indexes a part of what is behind, as after an import, and
   * upkeep the rest.
   */
  countUnindexed(options: { readonly conversationId?: string; readonly agent?: string }): Promise<number>;
  /** Builds the search index anew, of one conversation or of all; with an embedder, the vectors of what has none. */
  reindex(options: ReindexOptions): Promise<Reindexed>;
  /** An entry with its whole original, byte for byte; or a summary, by its compaction's id. @throws HoldfastClientError `entry_not_found` */
  openEntry(entryId: string): Promise<OpenedEntry>;
  getContext(conversationId: string): Promise<ContextReport>;
  /** What the model saw at a call, compactions of that time in force. @param options.at default: the newest call */
  getView(options: { readonly conversationId: string; readonly at?: ModelCallAddress }): Promise<PastView>;
  /** Model calls with every try, oldest first; the newest `limit`. @param options.limit default: 100 */
  listModelCalls(options: { readonly conversationId: string; readonly limit?: number }): Promise<Page<PastCall>>;
  /**
   * What model calls cost, the most expensive group first; turns and steps of one conversation in their order.
   * @param options.since default: the beginning
   * @param options.conversationId default: all conversations of the client's tenant; needed by `turn` and `step`
   */
  listCosts(options: {
    readonly by: CostGroup;
    readonly since?: Date;
    readonly conversationId?: string;
  }): Promise<CostRow[]>;
  /** What servers' own lists said of their models when they were asked last. */
  listServedModels(): Promise<ServedModel[]>;
  /** Stores what a server lists of a model, for turns that begin from now on. */
  storeServedModel(served: Omit<ServedModel, 'listedAt'>): Promise<void>;
  /** Windows that servers named in errors. @param options.days only those of so many days */
  listLearnedWindows(options: { readonly days: number }): Promise<LearnedWindow[]>;
  /**
   * Events in order, each once, and live text between them, until the signal aborts.
   * @throws HoldfastClientError `conversation_not_found`, `database_unreachable` and what else keeps Postgres from answering
   */
  watch(options: WatchOptions): AsyncIterable<WatchUpdate>;
  /**
   * Waits until the turn that took the message or command has ended, and tells of that turn. A command that found nothing to
   * act on is answered as soon as it was looked at.
   * @param options.timeoutMilliseconds default: no limit
   * @throws HoldfastClientError `timeout`, `conversation_not_found`, `invalid_argument` (no such message in it); the reason of
   * a signal that aborted
   */
  waitForOutcome(options: {
    readonly conversationId: string;
    readonly messageId: string;
    readonly timeoutMilliseconds?: number;
    readonly signal?: AbortSignal;
  }): Promise<EndedTurn | ServedCommand>;
  /** Waits up to 2 s for doorbells still under way, then closes the connections; every other method then throws `client_closed`. */
  close(): Promise<void>;
}
