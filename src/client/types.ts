import type { z } from 'zod';
import type { importedConversation } from './api/conversation-results.ts';
import type { WaitingCall } from './decision-types.ts';
import type { ContentPart } from '../context/log/content.ts';
import type { EntryKind } from '../context/log/entry.ts';
import type { WindowBreakdown } from '../context/plan/plan.ts';
import type { View } from '../context/view/view.ts';
import type { TurnSummary } from './turn-summary.ts';

export type { LiveTextUpdate, TimelineEvent, WatchOptions, WatchUpdate } from './watch-types.ts';

export type { ChangedEntry, CompactionLineage } from '../store/compactions/lineage.ts';
export type { StoredSummary } from './memory-types.ts';
export type { EndedTurn, TurnSummary } from './turn-summary.ts';

export type ImportedConversation = z.output<typeof importedConversation>;

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

/** A run whose history Temporal keeps after its conversation was deleted: ids and counts, no text. */
export interface WorkflowRun {
  readonly workflowId: string;
  /** `null` for one that began no turn: it may be there, or not. */
  readonly runId: string | null;
}

/** An entry with its whole original. */
export interface OpenedEntry extends Omit<ListedEntry, 'kind'> {
  /** `summary`: the id was a compaction's; the content is its summary, number and turn are those of its marker. */
  readonly kind: ListedEntry['kind'] | 'summary';
  readonly conversationId: string;
  /** `null` when the content shows everything. */
  readonly original: Uint8Array | null;
}
