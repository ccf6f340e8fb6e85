import type { LiveText } from '../store/log/live-text-channel.ts';
/** One row of the timeline. `data` holds ids, names and counts. */
export interface TimelineEvent {
  readonly sequence: number;
  readonly kind: string;
  readonly turnId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

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
