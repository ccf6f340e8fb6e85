/**
 * Postgres channel of a conversation's live text: one for each, so that a watcher is not sent what
 * other conversations say. 50 bytes, below the 63 that Postgres allows a channel's name.
 */
export function liveTextChannel(conversationId: string): string {
  return `holdfast_live_${conversationId}`;
}

/** One piece of live text. Not stored: a reader that misses one reads the entry when it is there. */
export interface LiveText {
  readonly turnId: string;
  readonly callNumber: number;
  /** A higher attempt supersedes what a lower one has sent. */
  readonly attempt: number;
  /** `tool_call`: the arguments of a call, JSON that is not yet complete. */
  readonly kind: 'text' | 'thinking' | 'tool_call';
  readonly callIndex?: number;
  readonly toolName?: string;
  /** Characters of this kind, or of this tool call, that came before: a jump is a gap. */
  readonly offset: number;
  readonly text: string;
}
