/** One row of the timeline. `data` holds ids, names and counts. */
export interface TimelineEvent {
  readonly sequence: number;
  readonly kind: string;
  readonly turnId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

/**
 * Text, thinking or the arguments of a tool call while the model writes them; a higher attempt supersedes a
 * lower one, an offset beyond what was read is a gap. Offsets count per kind, and per tool call.
 */
export interface LiveTextUpdate {
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  readonly kind: 'text' | 'thinking' | 'tool_call';
  /** Of a tool call: its position among those of the answer, from 0. */
  readonly callIndex?: number;
  /** Of a tool call: the tool. */
  readonly toolName?: string;
  readonly offset: number;
  readonly text: string;
}

export type WatchUpdate =
  | { readonly type: 'event'; readonly event: TimelineEvent }
  | { readonly type: 'live_text'; readonly text: LiveTextUpdate };

export interface WatchOptions {
  readonly conversationId: string;
  /** Events after this sequence; 0 for all. Default: 0. */
  readonly afterSequence?: number;
  /** Whether live text is delivered too. Default: true. */
  readonly liveText?: boolean;
  readonly signal?: AbortSignal;
}
