import type { Conversation, ListedEntry, TimelineEvent, TurnSummary } from '../../../src/client/types.ts';
import type { ContentPart } from '../../../src/context/log/content.ts';
import { applyEvent, startState } from '../../../src/cli/render/turn/turn-state.ts';
import type { TurnScreenState } from '../../../src/cli/render/turn/turn-state.ts';
import type { TurnItem } from '../../../src/cli/render/turn/turn-items.ts';
import type { EventDataByKind, EventKind } from '../../../src/store/log/timeline.ts';
import { EXAMPLE_EVENTS } from '../../support/example-events.ts';

export const TURN_ID = '01981f3c-0000-7000-8000-000000000001';
/** Milliseconds since 1970 of the first event. */
export const BEGIN = Date.parse('2026-01-01T12:00:00.000Z');

/** An event some seconds after the beginning. */
export function timelineEvent<Kind extends EventKind>(
  kind: Kind,
  changes: Partial<EventDataByKind[Kind]> = {},
  seconds = 0,
): TimelineEvent<Kind> {
  const event = { kind, data: { ...EXAMPLE_EVENTS[kind], ...changes } } as TimelineEvent<Kind>;
  return { ...event, sequence: 1, turnId: TURN_ID, createdAt: new Date(BEGIN + seconds * 1_000).toISOString() };
}

export function listedEntry(changes: Partial<ListedEntry> & { readonly content: readonly ContentPart[] }): ListedEntry {
  return {
    entryId: '01981f3c-0000-7000-8000-00000000000e',
    sequence: 1,
    kind: 'assistant',
    slot: null,
    turnId: TURN_ID,
    callNumber: 1,
    callIndex: null,
    toolName: null,
    isError: false,
    createdAt: new Date(BEGIN).toISOString(),
    originalBytes: null,
    compactionId: null,
    lateResults: [],
    ...changes,
  };
}

/** A conversation that had no turn yet. */
export function conversationOf(changes: Partial<Conversation> = {}): Conversation {
  return {
    conversationId: '01981f3c-0000-7000-8000-00000000000c',
    agent: 'default',
    model: null,
    user: null,
    title: 'A task',
    createdAt: new Date(BEGIN).toISOString(),
    entryCount: 9,
    eventCount: 4,
    waitingMessages: 0,
    fill: null,
    secretsRedacted: 0,
    waitingCalls: [],
    workerNeed: null,
    turn: null,
    ...changes,
  };
}

/** A turn that completed without doing anything. */
export function turnOf(changes: Partial<TurnSummary> = {}): TurnSummary {
  const at = new Date(BEGIN).toISOString();
  return {
    turnId: TURN_ID,
    state: 'ended',
    outcome: 'completed',
    reason: null,
    explanation: null,
    preset: 'default',
    model: 'simulator/sim-32k',
    givenUp: [],
    commandOnly: false,
    tookMessages: false,
    steps: 0,
    modelCalls: 0,
    compactions: 0,
    overflows: 0,
    usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
    cost: 0,
    startedAt: at,
    endedAt: at,
    breakdown: null,
    ...changes,
  };
}

export const text = (words: string): ContentPart => ({ type: 'text', text: words });

export const toolCall = (index: number, name: string, json: string): ContentPart => ({
  type: 'tool_call',
  index,
  id: `call-${index}`,
  name,
  arguments: json,
});

/** Applies events in order; each may come with its entry. */
export function play(
  events: readonly (TimelineEvent | readonly [TimelineEvent, ListedEntry])[],
  from: TurnScreenState = startState(BEGIN),
): { readonly state: TurnScreenState; readonly items: TurnItem[] } {
  let state = from;
  const items: TurnItem[] = [];
  for (const played of events) {
    const [event, entry] = 'kind' in played ? [played, null] : played;
    const applied = applyEvent(state, event, entry);
    state = applied.state;
    items.push(...applied.items);
  }
  return { state, items };
}
