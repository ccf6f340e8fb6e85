import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '../../client/holdfast.ts';
import type { ListedEntry, TimelineEvent, WatchOptions, WatchUpdate } from '../../client/types.ts';
import { isDatabaseOutage } from '../describe-error.ts';
import { shortId } from '../find-conversation.ts';
import type { TurnItem } from '../render/turn/turn-items.ts';
import { applyEvent, startState } from '../render/turn/turn-state.ts';
import type { TurnScreenState } from '../render/turn/turn-state.ts';
import type { Display } from './display.ts';

/** How long a watcher bears a Postgres that does not answer: the turn survives longer outages, a watcher need not. */
const PATIENCE_MILLISECONDS = 60_000;
const RETRY_MILLISECONDS = 1_000;

export interface Followed {
  readonly client: { readonly conversation: Pick<Holdfast['conversation'], 'watch'> };
  readonly conversationId: string;
  readonly display: Display;
  readonly signal: AbortSignal;
}

/** Follows a conversation on a display, also over outages of Postgres. */
export class Follower {
  state: TurnScreenState;
  readonly #followed: Followed;
  #failingSince: number | null = null;

  constructor(followed: Followed, state?: TurnScreenState) {
    this.#followed = followed;
    this.state = state ?? startState(Date.now(), shortId(followed.conversationId));
  }

  /** @param items what is new for good */
  show(items: readonly TurnItem[] = []): void {
    this.#followed.display.show(this.state, items);
  }

  /** @returns what the event shows for good */
  apply(event: TimelineEvent, entry: ListedEntry | null = null): readonly TurnItem[] {
    const { state, items } = applyEvent(this.state, event, entry);
    this.state = state;
    return items;
  }

  /** The work's result; it is done again while Postgres does not answer. @throws what the work throws, an outage after 60 s */
  async through<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        const result = await work();
        this.#failingSince = null;
        return result;
      } catch (error) {
        await this.#bear(error);
      }
    }
  }

  /** As the client's `watch`: events each once, also over outages. */
  async *updates(options: Pick<WatchOptions, 'afterSequence' | 'liveText'>): AsyncGenerator<WatchUpdate> {
    const { client, conversationId, signal } = this.#followed;
    let { afterSequence = 0 } = options;
    while (!signal.aborted) {
      try {
        for await (const update of client.conversation.watch({ ...options, conversationId, afterSequence, signal })) {
          this.#failingSince = null;
          this.state = { ...this.state, heardAt: Date.now(), outageSince: null };
          if (update.type === 'event') afterSequence = update.event.sequence;
          yield update;
        }
        return;
      } catch (error) {
        await this.#bear(error);
      }
    }
  }

  async #bear(error: unknown): Promise<void> {
    const { signal } = this.#followed;
    if (signal.aborted || !isDatabaseOutage(error)) throw error;
    this.#failingSince ??= performance.now();
    if (performance.now() - this.#failingSince > PATIENCE_MILLISECONDS) throw error;
    this.state = { ...this.state, outageSince: this.state.outageSince ?? Date.now() };
    this.show();
    // An abort ends the pause and shows at the next try.
    await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  }
}
