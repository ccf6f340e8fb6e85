import type { Holdfast } from '../../client/holdfast.ts';
import type { TimelineEvent, TurnSummary } from '../../client/types.ts';
import type { TurnItem } from '../render/turn/turn-items.ts';
import { applyLiveText } from '../render/turn/turn-state.ts';
import type { TurnScreenState } from '../render/turn/turn-state.ts';
import { NO_DISPLAY } from './display.ts';
import { entryOfEvent } from './entry-of-event.ts';
import { Follower } from './follower.ts';
import type { Followed } from './follower.ts';
import { chooseTurn } from './turn-choice.ts';
import type { TurnTarget } from './turn-choice.ts';

export interface FollowOptions extends TurnTarget, Followed {
  readonly client: Holdfast;
  /** Events up to it are not told. Default: 0. */
  readonly afterEvent?: number;
  /** `false`: entries are not read, for who only wants to know how the turn ends. Default: true. */
  readonly entries?: boolean;
}

export interface FollowedTurn {
  readonly turnId: string;
  readonly outcome: string;
  readonly reason: string | null;
  /** Text of the last answer; empty when there was none. */
  readonly answer: string;
}

/** Milliseconds between looks at the turn's cost. */
const COST_INTERVAL_MILLISECONDS = 500;

/** Shows a turn until it ends. @returns `null` when the signal aborted first */
export async function followTurn(options: FollowOptions): Promise<FollowedTurn | null> {
  const { client, conversationId, display, afterEvent: afterSequence = 0 } = options;
  const figures = createFigures(client, conversationId, display !== NO_DISPLAY);
  const choice = chooseTurn(options);
  const follower = new Follower(options);
  let answer = '';
  follower.show();
  for await (const update of follower.updates({ afterSequence, liveText: display.liveText })) {
    if (update.type === 'live_text') {
      if (!choice.includes(update.text.turnId)) continue;
      follower.state = applyLiveText(follower.state, update.text);
      follower.show();
      continue;
    }
    const { event } = update;
    const turnId = choice.chosen();
    const isBefore = event.turnId === null && event.kind === 'turn_waiting' && turnId === null;
    if (isBefore) {
      follower.show(follower.apply(event));
      continue;
    }
    if (!choice.includes(event.turnId) || event.turnId === null) {
      // A successor began although no end was told: its beginning has closed this turn.
      if (event.kind === 'turn_begun' && turnId !== null && follower.state.turnId === turnId) {
        return { turnId, outcome: 'interrupted', reason: null, answer };
      }
      continue;
    }
    const entry = options.entries === false ? null : await follower.through(() => entryOfEvent(client, event));
    follower.state = { ...follower.state, turnId: event.turnId };
    const items = follower.apply(event, entry);
    follower.state = await follower.through(() => figures.add(follower.state, event));
    answer = lastAnswer(items) ?? answer;
    follower.show(items);
    if (event.kind === 'turn_ended') {
      return { turnId: event.turnId, outcome: event.data.outcome, reason: event.data.reason, answer };
    }
  }
  return null;
}

function lastAnswer(items: readonly TurnItem[]): string | null {
  return items.findLast((item) => item.kind === 'answer')?.text ?? null;
}

/** Adds what events do not tell: the size of the window, and what the turn has cost. */
function createFigures(client: Holdfast, conversationId: string, wanted: boolean) {
  let lookedAt = 0;
  let inputBudget: number | null = null;
  return {
    async add(state: TurnScreenState, event: TimelineEvent): Promise<TurnScreenState> {
      if (wanted && event.kind === 'model_call_started' && inputBudget === null) {
        ({ inputBudget } = await client.log.context({ conversationId }));
      }
      let { cost } = state;
      if (wanted && event.kind === 'model_call_answered' && Date.now() - lookedAt >= COST_INTERVAL_MILLISECONDS) {
        lookedAt = Date.now();
        const { turn } = await client.conversation.get({ conversationId });
        if (turn?.turnId === event.turnId) cost = turn.cost;
      }
      return { ...state, inputBudget, cost };
    },
  };
}

/** The turn's row: what its outcome means in words, and its sums. `null` when a newer turn has begun already. */
export async function readEndedTurn(
  client: Holdfast,
  conversationId: string,
  turnId: string,
): Promise<TurnSummary | null> {
  const { turn } = await client.conversation.get({ conversationId });
  return turn?.turnId === turnId ? turn : null;
}
