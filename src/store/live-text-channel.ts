/**
 * Postgres channel of a conversation's live text: one for each, so that a watcher is not sent what
 * other conversations say. 50 bytes, below the 63 that Postgres allows a channel's name.
 */
export function liveTextChannel(conversationId: string): string {
  return `holdfast_live_${conversationId}`;
}
