import type { z } from 'zod';
import type { LiveText } from '../store/log/live-text-channel.ts';
import type { EventKind, EventOfKind } from '../store/log/timeline.ts';
import type * as conversations from './api/conversation-results.ts';
import type * as logs from './api/log-results.ts';
import type { foundPassage } from './api/memory-results.ts';
import type * as summaries from './api/summary-results.ts';
import type { OfConversation } from './arguments.ts';

export type { ModelCallAddress } from '../store/attempts/find-model-call.ts';
export type { ChangedEntry, CompactionLineage } from '../store/compactions/summaries.ts';

// What methods take and answer. An answer has the form that the API describes (`api/`); only what needs the database is written here.

type Answer<Schema extends z.ZodType> = Readonly<z.output<Schema>>;

/** What was stored. */
export type SentMessage = Answer<typeof conversations.sentMessage>;
/** A command that had nothing to act on, such as a stop of an idle conversation. No turn took it. */
export type ServedCommand = Answer<typeof conversations.servedCommand>;
/** A turn, with what it has used. */
export type TurnSummary = Answer<typeof conversations.turnSummary>;
/** A conversation with its newest turn. */
export type Conversation = Answer<typeof conversations.conversation>;
/** A tool call that waits for a person. */
export type WaitingCall = Answer<typeof conversations.waitingCall>;
/** A waiting call with its conversation. */
export type WaitingCallOfTenant = Answer<typeof conversations.waitingCallOfTenant>;
/** A tool call that was decided. */
export type DecidedCall = Answer<typeof conversations.decidedCall>;
/** The decision that was stored, and its call. */
export type SentDecision = Answer<typeof conversations.sentDecision>;
/** A decision for all turns of an agent. */
export type StandingApproval = Answer<typeof conversations.standingApproval>;
/** What an import stored. */
export type ImportedConversation = Answer<typeof conversations.importedConversation>;
/** A workflow run whose history Temporal still keeps: ids and counts, no text. */
export type WorkflowRun = Answer<typeof conversations.workflowRun>;
/** An entry as the model sees it. */
export type ListedEntry = Answer<typeof logs.listedEntry>;
/** The report of a tool call's attempt after another attempt gave the result. */
export type LateResult = Answer<typeof logs.lateResult>;
/** A committed compaction. */
export type StoredSummary = Answer<typeof summaries.storedSummary>;
/** What fills the window of the next call, in tokens, and the numbers in force. */
export type ContextReport = Answer<typeof logs.contextReport>;
/** One attempt of a model call. */
export type PastCall = Answer<typeof logs.pastCall>;
/** Two summaries, and the lines that the newer one took over, lost and gained. */
export type SummaryDifference = Answer<typeof summaries.summaryDifference>;
/** Facts that left the window by compaction, and whether recall finds them. */
export type SummaryAudit = Answer<typeof summaries.summaryAudit>;
/** The request of a past model call, rebuilt from the log. */
export type PastView = Answer<typeof logs.pastView>;
/** A piece of an entry or summary that a search found. */
export type FoundPassage = Answer<typeof foundPassage>;

/** A turn that has ended. */
export type EndedTurn<Output = unknown> = Answer<typeof conversations.endedTurn> & {
  /** The final answer in the form that you asked for. Absent: no form was given, or no answer has it. */
  readonly output?: Output;
};

/** An entry with its whole original. */
export type OpenedEntry = Answer<typeof logs.openedEntry> & {
  /** `null`: `content` shows everything. */
  readonly original: Uint8Array | null;
};

export interface DecisionOptions extends OfConversation {
  /** Name of the call, as in `WaitingCall`. Default: the only call that waits. */
  readonly call?: string;
  /** Chosen by the caller, at most 200 characters, one for each decision: a repeated id counts once. Default: a new UUID. */
  readonly decisionId?: string;
  /** Who decides, for the timeline; at most 100 characters. A server with keys writes the name of the key. Default: nobody. */
  readonly decidedBy?: string;
}

export interface ApprovalOptions extends DecisionOptions {
  /**
   * `call` decides this call, `turn` all calls of the turn under the same rules, `agent` those of all turns of the agent, now and later.
   * Default: `call`.
   */
  readonly for?: 'call' | 'turn' | 'agent';
  /** What the model reads with a denial. Default: none. */
  readonly reason?: string;
}

/**
 * What a search looks for, and where. It must name a conversation or an agent, so that a forgotten argument does not show what users of
 * other agents said.
 */
export interface MemorySearch {
  /** Searches this conversation. Give this or `agent`. */
  readonly conversationId?: string;
  /** Searches all conversations of this agent. */
  readonly agent?: string;
  /** Words, with quotation marks around those that must stand in a row. */
  readonly query: string;
  /** At most 100. Default: 10. */
  readonly limit?: number;
  /** Only passages of these kinds. Default: all. */
  readonly kinds?: readonly ('user' | 'assistant' | 'tool_result' | 'note' | 'branch_summary' | 'summary')[];
  /** ISO time: only what was said at or after it. */
  readonly after?: string;
  /** ISO time: only what was said before it. */
  readonly before?: string;
}

export interface ReindexOptions {
  /** Of this conversation. Default: of all. */
  readonly conversationId?: string;
  /** Stops after the current batch. Upkeep or the next search finishes what was begun. */
  readonly signal?: AbortSignal;
  /** Called after each conversation. */
  readonly onProgress?: (progress: ReindexProgress) => void;
}

export interface ReindexProgress {
  readonly conversationId: string;
  /** Conversations that are done, this one included, of how many. */
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

/** One event of the timeline: `kind` tells what its `data` holds. */
export type TimelineEvent<Kind extends EventKind = EventKind> = EventOfKind<Kind> & {
  /** Order within the conversation, from 1, without gaps. */
  readonly sequence: number;
  readonly turnId: string | null;
  /** ISO time. */
  readonly createdAt: string;
};

export type { LiveText as LiveTextUpdate } from '../store/log/live-text-channel.ts';

/** An event, or a piece of an answer as the model writes it. */
export type WatchUpdate =
  | { readonly type: 'event'; readonly event: TimelineEvent }
  | { readonly type: 'live_text'; readonly text: LiveText };

export interface WatchOptions {
  readonly conversationId: string;
  /** Yields only events after this sequence. Default: 0, which means all. */
  readonly afterSequence?: number;
  /**
   * Yields live text too. A slow reader loses the oldest of more than 1,000 waiting pieces, which the next `offset` shows. Events are never
   * lost. Default: true.
   */
  readonly liveText?: boolean;
  /** Ends it. */
  readonly signal?: AbortSignal;
}
