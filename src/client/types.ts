import type { z } from 'zod';
import type { LiveText } from '../store/log/live-text-channel.ts';
import type { EventKind, EventOfKind } from '../store/log/timeline.ts';
import type * as conversations from './api/conversation-results.ts';
import type * as logs from './api/log-results.ts';
import type { foundPassage } from './api/memory-results.ts';
import type { OfConversation } from './arguments.ts';

export type { ModelCallAddress } from '../store/attempts/find-model-call.ts';
export type { ChangedEntry, CompactionLineage } from '../store/compactions/lineage.ts';

// What methods take and answer. An answer has the form that the API describes (`api/`); only what needs the database is written here.

type Answer<Schema extends z.ZodType> = Readonly<z.output<Schema>>;

export type SentMessage = Answer<typeof conversations.sentMessage>;
export type ServedCommand = Answer<typeof conversations.servedCommand>;
export type TurnSummary = Answer<typeof conversations.turnSummary>;
export type Conversation = Answer<typeof conversations.conversation>;
export type WaitingCall = Answer<typeof conversations.waitingCall>;
export type WaitingCallOfTenant = Answer<typeof conversations.waitingCallOfTenant>;
export type DecidedCall = Answer<typeof conversations.decidedCall>;
export type SentDecision = Answer<typeof conversations.sentDecision>;
export type StandingApproval = Answer<typeof conversations.standingApproval>;
export type ImportedConversation = Answer<typeof conversations.importedConversation>;
export type WorkflowRun = Answer<typeof conversations.workflowRun>;
export type ListedEntry = Answer<typeof logs.listedEntry>;
export type LateResult = Answer<typeof logs.lateResult>;
export type StoredSummary = Answer<typeof logs.storedSummary>;
export type ContextReport = Answer<typeof logs.contextReport>;
export type PastCall = Answer<typeof logs.pastCall>;
export type SummaryAudit = Answer<typeof logs.summaryAudit>;
export type PastView = Answer<typeof logs.pastView>;
export type FoundPassage = Answer<typeof foundPassage>;

/** What became of a turn. */
export type EndedTurn<Output = unknown> = Answer<typeof conversations.endedTurn> & {
  /** The final answer in the form that was given to wait for it. Absent: none was given, or the turn has no answer of that form. */
  readonly output?: Output;
};

/** An entry with its whole original. */
export type OpenedEntry = Answer<typeof logs.openedEntry> & {
  /** `null` when the content shows everything. */
  readonly original: Uint8Array | null;
};

export interface DecisionOptions extends OfConversation {
  /** As in `WaitingCall`. Default: the only call that waits. */
  readonly call?: string;
  /** Chosen by the caller to make sending twice harmless, one for each decision; at most 200 characters. Default: a new UUID. */
  readonly decisionId?: string;
  /** Who decides, as the timeline tells it; at most 100 characters. A server with keys writes the key's name. */
  readonly decidedBy?: string;
}

export interface ApprovalOptions extends DecisionOptions {
  /** The call; all calls of this turn under the same rules; or those of all turns of the agent, waiting and later ones. Default: `call`. */
  readonly for?: 'call' | 'turn' | 'agent';
  /** Shown to the model with a denial. */
  readonly reason?: string;
}

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

/** One event of the timeline: `kind` tells what its `data` holds. */
export type TimelineEvent<Kind extends EventKind = EventKind> = EventOfKind<Kind> & {
  /** Order within the conversation, from 1, without gaps. */
  readonly sequence: number;
  readonly turnId: string | null;
  /** ISO time. */
  readonly createdAt: string;
};

export type { LiveText as LiveTextUpdate } from '../store/log/live-text-channel.ts';

export type WatchUpdate =
  | { readonly type: 'event'; readonly event: TimelineEvent }
  | { readonly type: 'live_text'; readonly text: LiveText };

export interface WatchOptions {
  readonly conversationId: string;
  /** Events after this sequence; 0 for all. Default: 0. */
  readonly afterSequence?: number;
  /**
   * Whether live text is delivered too. A reader that stands still loses the oldest of more than 1,000 waiting pieces, which
   * the next `offset` shows; events wait in the database. Default: true.
   */
  readonly liveText?: boolean;
  readonly signal?: AbortSignal;
}
