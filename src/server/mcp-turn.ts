import { textOf } from '../context/log/content.ts';
import type { EndedTurn, ServedCommand, WaitingCall } from '../client/types.ts';
import { HoldfastClientError } from '../client/errors.ts';
import type { Holdfast } from '../client/holdfast.ts';

/** Entries among which the newest answer is looked for. */
const NEWEST_ENTRIES = 50;

/** A call that waits, as a tool returns it. */
export function waitingCall(conversationId: string, call: WaitingCall): Record<string, unknown> {
  return {
    conversation_id: conversationId,
    call: call.call,
    kind: call.kind,
    tool: call.tool,
    arguments: call.arguments,
    expires_at: call.expiresAt,
  };
}

/** How a conversation stands now, and its newest answer. */
export async function turnState(client: Holdfast, conversationId: string): Promise<Record<string, unknown>> {
  const [{ turn, waitingCalls, waitingMessages }, { items }] = await Promise.all([
    client.conversation.get({ conversationId }),
    client.log.entries({ conversationId, limit: NEWEST_ENTRIES }),
  ]);
  const answers = items.filter(({ kind }) => kind === 'assistant').map(({ content }) => textOf(content));
  const isWaited = turn === null || (turn.state === 'ended' && waitingMessages > 0);
  return {
    state: isWaited ? 'queued' : turn.state,
    outcome: isWaited ? null : turn.outcome,
    explanation: isWaited ? null : turn.explanation,
    answer: answers.findLast((text) => text !== '') ?? '',
    waiting_calls: waitingCalls.map((call) => waitingCall(conversationId, call)),
  };
}

/** Until the turn ended, a call of it waits for a person, or the time is over. */
export async function waitForTurn(
  client: Holdfast,
  options: {
    readonly conversationId: string;
    readonly messageId: string;
    readonly milliseconds: number;
    readonly signal: AbortSignal;
  },
): Promise<Record<string, unknown>> {
  const { conversationId, milliseconds, ...message } = options;
  try {
    const turn = await untilTurnRests(client, { conversationId, timeoutMilliseconds: milliseconds, ...message });
    if (turn === null) return await turnState(client, conversationId);
    const { state, outcome, explanation, text } = turn;
    return { state: state === 'served' ? 'ended' : state, outcome, explanation, answer: text, waiting_calls: [] };
  } catch (error) {
    if (error instanceof HoldfastClientError && error.code === 'timeout') return turnState(client, conversationId);
    throw error;
  }
}

/** The turn that took the message, once it has ended; `null` as soon as a call waits for a person. */
export async function untilTurnRests(
  client: Holdfast,
  options: Parameters<Holdfast['conversation']['outcome']>[0] & { readonly signal: AbortSignal },
): Promise<EndedTurn | ServedCommand | null> {
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const ended = client.conversation.outcome({ ...options, signal });
  try {
    return await Promise.race([ended, needsPerson(client, options.conversationId, signal)]);
  } finally {
    over.abort();
    // It is rejected with the abort where the other one came first.
    ended.catch(() => undefined);
  }
}

/** `null` as soon as a call waits for a person; pending until the signal aborts otherwise. */
async function needsPerson(client: Holdfast, conversationId: string, signal: AbortSignal): Promise<null> {
  const { eventCount, waitingCalls } = await client.conversation.get({ conversationId });
  if (waitingCalls.length > 0) return null;
  const watching = client.conversation.watch({ conversationId, afterSequence: eventCount, liveText: false, signal });
  for await (const update of watching) {
    if (update.type === 'event' && update.event.kind === 'decision_requested') return null;
  }
  return new Promise(() => undefined);
}
