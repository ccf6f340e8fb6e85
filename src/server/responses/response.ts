/** A response: a message that begins a turn, and how that turn stands by the log. */
import { definedOf } from '../../context/policy/defined-of.ts';
import { HoldfastClientError } from '../../client/errors.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { Conversation, ListedEntry, TimelineEvent, TurnSummary } from '../../client/types.ts';
import { newId, timeOfId } from '../../store/database/ids.ts';
import { refused } from '../arguments.ts';
import { RequestError } from '../problem.ts';
import { compactionItem, decisionItem, idOf, TurnOutput } from './output.ts';
import type { OutputItem, ResponseEvent, ResponseReference } from './output.ts';
import { DECIDED, INCLUDE_SUMMARIES, UNUSED } from './request.ts';
import type { Asked } from './request.ts';

/** By reason, else by outcome. */
const STATUS: Readonly<Record<string, string>> = {
  answer_cut: 'incomplete',
  call_missing: 'incomplete',
  output_invalid: 'incomplete',
  completed: 'completed',
  stopped: 'cancelled',
  budget_exhausted: 'incomplete',
  context_exhausted: 'incomplete',
};

/** A running turn stops within a second. */
const CANCEL_MILLISECONDS = 5_000;

export class StoredResponse {
  readonly #client: Holdfast;
  readonly #of: ResponseReference;
  readonly #asked: Partial<Asked>;

  constructor(client: Holdfast, of: ResponseReference, asked: Partial<Asked> = {}) {
    this.#client = client;
    this.#of = of;
    this.#asked = asked;
  }

  /** Items of a turn that goes on: the calls that wait for a person. */
  async read() {
    const standing = await standingOf(this.#client, this.#of);
    const { conversation, turn, status } = standing;
    const output = new TurnOutput(this.#of);
    // Those of a queued one are of the turn before it.
    const waiting = status === 'in_progress' ? conversation.waitingCalls : [];
    for (const call of waiting) output.add(decisionItem(this.#of, call));
    for (const entry of turn === null ? [] : await this.#entriesOf(turn.turnId)) {
      if (entry.compactionId === null) output.stored(entry);
      else output.add(await this.#compaction(entry.compactionId));
    }
    return this.#describe(standing, output.items);
  }

  /** Stops the turn; of one that has ended it changes nothing. Without a worker the turn ends when one begins it. */
  async cancel(signal: AbortSignal) {
    const { conversation, turn, status } = await standingOf(this.#client, this.#of);
    if (turn !== null) return this.read();
    if (status === 'queued' && conversation.turn?.endedAt === null) {
      throw new RequestError('conversation_busy', 'Another turn runs before it: a stop would end that one.');
    }
    await this.#client.conversation.stop({ conversationId: this.#of.conversationId });
    await endedTurn(this.#client, { ...this.#of, timeoutMilliseconds: CANCEL_MILLISECONDS, signal });
    return this.read();
  }

  /** Events of the turn that takes the message, until it has ended. @param afterSequence the newest event before the message */
  async *events(afterSequence: number, signal: AbortSignal): AsyncGenerator<ResponseEvent> {
    const { conversationId, messageId } = this.#of;
    const output = new TurnOutput(this.#of);
    const describe = async () => this.#describe(await standingOf(this.#client, this.#of), output.items);
    const begun = await describe();
    yield { type: 'response.created', response: begun };
    yield { type: 'response.in_progress', response: begun };
    let turnId: string | null = null;
    for await (const update of this.#client.conversation.watch({ conversationId, afterSequence, signal })) {
      if (update.type === 'live_text') {
        if (update.text.turnId === turnId) yield* output.live(update.text);
        continue;
      }
      const { event } = update;
      if (event.kind === 'message_taken' && event.data.messageId === messageId) turnId = event.turnId;
      if (turnId === null || event.turnId !== turnId) continue;
      yield* await this.#show(event, output);
      if (event.kind === 'turn_ended') break;
    }
    if (signal.aborted) return;
    yield* output.end();
    const response = await describe();
    const { status } = response;
    yield { type: `response.${status === 'completed' || status === 'failed' ? status : 'incomplete'}`, response };
  }

  async #show({ kind, data }: TimelineEvent, output: TurnOutput): Promise<ResponseEvent[]> {
    switch (kind) {
      case 'model_call_answered':
      case 'tool_call_finished':
        return output.stored(await this.#client.log.open({ entryId: data.entryId }));
      case 'decision_requested': {
        const { waitingCalls } = await this.#client.conversation.get({ conversationId: this.#of.conversationId });
        const asks = waitingCalls.find(({ call }) => call.endsWith(`.${data.callNumber}.${data.callIndex}`));
        return asks === undefined ? [] : output.add(decisionItem(this.#of, asks));
      }
      case 'compaction_committed':
        return output.add(await this.#compaction(data.compactionId));
      default:
        return [];
    }
  }

  #describe({ conversation, turn, status }: Awaited<ReturnType<typeof standingOf>>, output: readonly OutputItem[]) {
    const reason = turn?.reason === 'answer_cut' ? 'max_output_tokens' : (turn?.reason ?? turn?.outcome);
    return {
      id: idOf('resp', this.#of),
      object: 'response',
      created_at: Math.floor(timeOfId(this.#of.messageId) / 1_000),
      completed_at: status === 'completed' ? Math.floor(Date.parse(turn?.endedAt ?? '') / 1_000) : null,
      status,
      error: status === 'failed' ? { code: turn?.outcome, message: turn?.explanation } : null,
      incomplete_details: status === 'incomplete' ? { reason } : null,
      model: conversation.agent,
      conversation: { id: this.#of.conversationId },
      output,
      usage: turn === null ? null : usageOf(turn.usage),
      ...DECIDED,
      ...UNUSED,
      text: { format: this.#asked.text?.format ?? { type: 'text' } },
      // Not stored, so only the answer to the request has them. The published document asks for a `background`.
      previous_response_id: this.#asked.previous_response_id ?? null,
      metadata: this.#asked.metadata ?? null,
      background: this.#asked.background ?? false,
      user: conversation.user ?? undefined,
    };
  }

  async #compaction(compactionId: string) {
    if (this.#asked.include?.includes(INCLUDE_SUMMARIES) !== true) return compactionItem(this.#of, compactionId);
    const summaries = await this.#client.log.summaries({ conversationId: this.#of.conversationId });
    const summary = summaries.find((each) => each.compactionId === compactionId)?.text ?? null;
    return compactionItem(this.#of, compactionId, summary);
  }

  /** From the newest page back to where the turn begins. */
  async #entriesOf(turnId: string): Promise<ListedEntry[]> {
    const found: ListedEntry[] = [];
    let range = {};
    for (;;) {
      const { conversationId } = this.#of;
      const { items, hasMore } = await this.#client.log.entries({ conversationId, limit: 200, ...range });
      const ofTurn = items.filter((entry) => entry.turnId === turnId);
      found.unshift(...ofTurn);
      const isBegun = found.length > 0 && ofTurn[0] !== items[0];
      if (!hasMore || isBegun) return found;
      range = { beforeSequence: items[0]?.sequence };
    }
  }
}

/** Starts a conversation or sends into one, as a message that begins a turn of its own. */
export async function createResponse(client: Holdfast, asked: Asked) {
  const { model, user, content, continued } = asked;
  if (content.length === 0) throw refused([{ field: 'input', message: 'says nothing' }]);
  const format = asked.text?.format;
  const form = format?.type === 'json_schema' ? { output: format.schema } : {};
  const messageId = newId();
  const afterEvent = await requireNewest(client, asked);
  if (continued === null) {
    // The first message has the id of its conversation.
    const ids = { conversationId: messageId, startKey: messageId };
    await client.start(content, { agent: model, ...ids, ...form, ...definedOf({ user: user ?? undefined }) });
  } else {
    const { conversationId } = continued;
    await client.conversation.send({ conversationId, messageId, content, mode: 'queue', ...form });
  }
  return { of: { conversationId: continued?.conversationId ?? messageId, messageId }, afterEvent };
}

/** Compacts a conversation now. @returns waits for it. No items: there was nothing to compact */
export async function compactResponse(client: Holdfast, asked: Asked) {
  const { continued, content } = asked;
  if (continued === null || content.length > 0) {
    const message = 'names what is compacted by previous_response_id or conversation, without input';
    throw refused([{ field: 'previous_response_id', message }]);
  }
  const { conversationId } = continued;
  await requireNewest(client, asked);
  const { messageId } = await client.conversation.compact({ conversationId });
  const response = new StoredResponse(client, { conversationId, messageId }, { include: [INCLUDE_SUMMARIES] });
  return async (signal: AbortSignal) => {
    await client.conversation.outcome({ conversationId, messageId, signal });
    const { id, created_at, usage, output } = await response.read();
    const items = output.filter(({ type }) => type === 'compaction');
    return { id, object: 'response.compaction', created_at, output: items, usage };
  };
}

/** @returns the newest event @throws RequestError `invalid_argument`: of another agent or user, or it does not end there */
async function requireNewest(client: Holdfast, { model, user, continued }: Asked) {
  if (continued === null) return 0;
  const { conversationId, messageId } = continued;
  const { agent, turn, user: own, eventCount } = await client.conversation.get({ conversationId });
  if (agent !== model) throw refused([{ field: 'model', message: `must be ${agent}, as in the conversation` }]);
  if ((user ?? own) !== own) throw refused([{ field: 'user', message: 'must be that of the conversation' }]);
  const ended = messageId === null ? null : await endedTurn(client, { conversationId, messageId });
  if (ended !== null && ended.turnId !== turn?.turnId) {
    const message = `is not where the conversation ends: go on from its newest response, or name conversation ${conversationId}`;
    throw refused([{ field: 'previous_response_id', message }]);
  }
  return eventCount;
}

/** @returns `turn`, once it has ended; `null`: it goes on, or none took the message yet */
async function standingOf(client: Holdfast, of: ResponseReference) {
  // In this order a turn that ends between the two has ended.
  const conversation = await client.conversation.get({ conversationId: of.conversationId });
  const turn = await endedTurn(client, of);
  if (turn === null) return { conversation, turn, status: await openStatus(client, of, conversation) };
  return { conversation, turn, status: STATUS[turn.reason ?? ''] ?? STATUS[turn.outcome] ?? 'failed' };
}

/** Of a message whose turn has not ended: whether the turn that runs took it. */
async function openStatus(client: Holdfast, of: ResponseReference, { turn, waitingMessages }: Conversation) {
  if (turn?.endedAt === null && waitingMessages === 0) return 'in_progress';
  const { items } = await client.log.events({ conversationId: of.conversationId, kinds: ['message_taken'] });
  const isTaken = items.some(({ kind, data }) => kind === 'message_taken' && data.messageId === of.messageId);
  return isTaken ? 'in_progress' : 'queued';
}

/** The turn of a message if it has ended. @throws HoldfastClientError `invalid_argument`, `conversation_not_found` */
async function endedTurn(client: Holdfast, of: Parameters<Holdfast['conversation']['outcome']>[0]) {
  try {
    const turn = await client.conversation.outcome({ timeoutMilliseconds: 0, ...of });
    return turn.state === 'ended' ? turn : null;
  } catch (error) {
    if (error instanceof HoldfastClientError && error.code === 'timeout') return null;
    throw error;
  }
}

function usageOf({ input, cacheRead, cacheWrite, output }: TurnSummary['usage']) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    // Providers report them within the output, or not at all.
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
