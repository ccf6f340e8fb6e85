import type { Holdfast } from '../../client/holdfast.ts';
import type { TimelineEvent, TurnSummary } from '../../client/types.ts';
import type { TurnItem } from '../render/turn/turn-items.ts';
import { applyEvent, applyLiveText, startState } from '../render/turn/turn-state.ts';
import type { TurnScreenState } from '../render/turn/turn-state.ts';
import { NO_DISPLAY } from './display.ts';
import type { Display } from './display.ts';
import { entryOfEvent } from './entry-of-event.ts';
import { createPatience } from './patience.ts';
import { chooseTurn } from './turn-choice.ts';
import type { TurnTarget } from './turn-choice.ts';

export interface FollowOptions extends TurnTarget {
  readonly client: Holdfast;
  readonly conversationId: string;
  /** Events up to it are not told. Default: 0. */
  readonly afterEvent?: number;
  /** `false`: entries are not read, for who only wants to know how the turn ends. Default: true. */
  readonly entries?: boolean;
  readonly display: Display;
  readonly signal: AbortSignal;
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
  const { client, conversationId, display, signal } = options;
  const figures = createFigures(client, conversationId, display !== NO_DISPLAY);
  let state: TurnScreenState = startState(Date.now());
  const choice = chooseTurn(options);
  let answer = '';
  const patience = createPatience(client, signal, () => {
    state = { ...state, outageSince: state.outageSince ?? Date.now() };
    display.show(state, []);
  });
  const heard = (): TurnScreenState => ({ ...state, heardAt: Date.now(), outageSince: null });
  const afterSequence = options.afterEvent ?? 0;
  display.show(state, []);
  for await (const update of patience.watch({ conversationId, afterSequence, liveText: display.liveText })) {
    if (update.type === 'live_text') {
      if (!choice.includes(update.text.turnId)) continue;
      state = applyLiveText(heard(), update.text);
      display.show(state, []);
      continue;
    }
    const { event } = update;
    const turnId = choice.chosen();
    const isBefore = event.turnId === null && event.kind === 'turn_waiting' && turnId === null;
    if (isBefore) {
      const { state: waiting, items } = applyEvent(heard(), event, null);
      state = waiting;
      display.show(state, items);
      continue;
    }
    if (!choice.includes(event.turnId) || event.turnId === null) {
      // A successor began although no end was told: its beginning has closed this turn.
      if (event.kind === 'turn_begun' && turnId !== null && state.turnId === turnId) {
        return { turnId, outcome: 'interrupted', reason: null, answer };
      }
      continue;
    }
    const entry = options.entries === false ? null : await patience.through(() => entryOfEvent(client, event));
    const applied = applyEvent({ ...heard(), turnId: event.turnId }, event, entry);
    state = await patience.through(() => figures.add(applied.state, event));
    answer = lastAnswer(applied.items) ?? answer;
    display.show(state, applied.items);
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
