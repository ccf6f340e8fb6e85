import type { LiveText } from '../store/log/live-text-channel.ts';
import type { EventKind, EventOfKind } from '../store/log/timeline.ts';

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
