/** A response: a message that begins a turn, and how that turn stands by the log. */
import { definedOf } from '../../context/policy/defined-of.ts';
import { HoldfastClientError } from '../../client/errors.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { Conversation, EndedTurn, ListedEntry, TimelineEvent, TurnSummary } from '../../client/types.ts';
import { newId, timeOfId } from '../../store/database/ids.ts';
import { refused } from '../arguments.ts';
import { RequestError } from '../problem.ts';
import { compactionItem, decisionItem, idOf, TurnOutput } from './output.ts';
import type { OutputItem, ResponseEvent, ResponseReference } from './output.ts';
import { DECIDED, INCLUDE_SUMMARIES, refusedInput, UNUSED } from './request.ts';
import type { Asked } from './request.ts';

type Continued = NonNullable<Asked['continued']>;

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
    // In this order a turn that ends between the two has ended.
    const conversation = await this.#conversation();
    const turn = await endedTurn(this.#client, this.#of);
    const output = new TurnOutput(this.#of);
    if (turn === null) for (const call of conversation.waitingCalls) output.add(decisionItem(this.#of, call));
    for (const entry of turn === null ? [] : await this.#entriesOf(turn.turnId)) {
      if (entry.compactionId === null) output.stored(entry);
      else output.add(await this.#compaction(entry.compactionId));
    }
    output.end();
    return this.#describe(conversation, turn, output.items);
  }

  /** Stops the turn; of one that has ended it changes nothing. Without a worker the turn ends when one begins it. */
  async cancel(signal: AbortSignal) {
    const conversation = await this.#conversation();
    if ((await endedTurn(this.#client, this.#of)) !== null) return this.read();
    if (conversation.turn?.endedAt === null && (await this.#openStatus(conversation)) === 'queued') {
      throw new RequestError('conversation_busy', 'Another turn runs before it: a stop would end that one.');
    }
    await this.#client.conversation.stop({ conversationId: this.#of.conversationId });
    await endedTurn(this.#client, { ...this.#of, timeoutMilliseconds: CANCEL_MILLISECONDS, signal });
    return this.read();
  }

  /** Of a message whose turn has not ended: whether the turn that runs took it. */
  async #openStatus({ conversationId, turn, waitingMessages }: Conversation): Promise<'queued' | 'in_progress'> {
    if (turn?.endedAt !== null) return 'queued';
    if (waitingMessages === 0) return 'in_progress';
    const { items } = await this.#client.log.events({ conversationId, kinds: ['message_taken'] });
    const isTaken = items.some(({ kind, data }) => kind === 'message_taken' && data.messageId === this.#of.messageId);
    return isTaken ? 'in_progress' : 'queued';
  }

  /** Events of the turn that takes the message, until it has ended. @param afterSequence the newest event before the message */
  async *events(afterSequence: number, signal: AbortSignal): AsyncGenerator<ResponseEvent> {
    const { conversationId, messageId } = this.#of;
    const conversation = await this.#conversation();
    const output = new TurnOutput(this.#of);
    const describe = async () => this.#describe(conversation, await endedTurn(this.#client, this.#of), output.items);
    yield { type: 'response.created', response: await describe() };
    yield { type: 'response.in_progress', response: await describe() };
    let turnId: string | null = null;
    for await (const update of this.#client.conversation.watch({ conversationId, afterSequence, signal })) {
      if (update.type === 'live_text') {
        if (update.text.turnId === turnId) yield* output.live(update.text);
        continue;
      }
      const { event } = update;
      if (event.kind === 'message_taken' && event.data.messageId === messageId) turnId = event.turnId;
      if (turnId === null) continue;
      const isOfTurn = event.turnId === turnId;
      if (isOfTurn) yield* await this.#show(event, output);
      // A successor closes a turn whose workflow is gone.
      if (event.kind === (isOfTurn ? 'turn_ended' : 'turn_begun')) break;
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
        const { waitingCalls } = await this.#conversation();
        const asks = waitingCalls.find(({ call }) => call.endsWith(`.${data.callNumber}.${data.callIndex}`));
        return asks === undefined ? [] : output.add(decisionItem(this.#of, asks));
      }
      case 'compaction_committed':
        return output.add(await this.#compaction(data.compactionId));
      default:
        return [];
    }
  }

  /** @param turn the turn that took the message and ended; `null`: it goes on, or none took the message yet */
  async #describe(conversation: Conversation, turn: EndedTurn | null, output: readonly OutputItem[]) {
    const ended = turn === null ? null : (STATUS[turn.reason ?? ''] ?? STATUS[turn.outcome] ?? 'failed');
    const status = ended ?? (await this.#openStatus(conversation));
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
      // What the request said of itself is not stored.
      previous_response_id: this.#asked.previous_response_id ?? null,
      metadata: this.#asked.metadata ?? {},
      background: this.#asked.background ?? false,
      user: '',
    };
  }

  async #compaction(compactionId: string) {
    if (this.#asked.include?.includes(INCLUDE_SUMMARIES) !== true) return compactionItem(this.#of, compactionId);
    const summaries = await this.#client.log.summaries({ conversationId: this.#of.conversationId });
    const summary = summaries.find((each) => each.compactionId === compactionId)?.text ?? null;
    return compactionItem(this.#of, compactionId, summary);
  }

  #conversation(): Promise<Conversation> {
    return this.#client.conversation.get({ conversationId: this.#of.conversationId });
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
  if (content.length === 0) throw refusedInput('says nothing');
  const format = asked.text?.format;
  const form = format?.type === 'json_schema' ? { output: format.schema } : {};
  const messageId = newId();
  if (continued === null) {
    // The first message has the id of its conversation.
    const ids = { conversationId: messageId, startKey: messageId };
    await client.start(content, { agent: model, ...ids, ...form, ...definedOf({ user: user ?? undefined }) });
    return { of: { conversationId: messageId, messageId }, afterEvent: 0 };
  }
  const { conversationId } = continued;
  const afterEvent = await requireNewest(client, asked, continued);
  await client.conversation.send({ conversationId, messageId, content, mode: 'queue', ...form });
  return { of: { conversationId, messageId }, afterEvent };
}

/** Compacts a conversation now. No items: there was nothing to compact. */
export async function compactResponse(client: Holdfast, asked: Asked, signal: AbortSignal) {
  const { continued, content } = asked;
  if (continued === null || content.length > 0) {
    const message = 'names what is compacted by previous_response_id or conversation, without input';
    throw refused([{ field: 'previous_response_id', message }]);
  }
  const { conversationId } = continued;
  await requireNewest(client, asked, continued);
  const { messageId } = await client.conversation.compact({ conversationId });
  await client.conversation.outcome({ conversationId, messageId, signal });
  const response = new StoredResponse(client, { conversationId, messageId }, { include: [INCLUDE_SUMMARIES] });
  const { id, created_at, usage, ...compacted } = await response.read();
  const output = compacted.output.filter(({ type }) => type === 'compaction');
  const nothing = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
  return { id, object: 'response.compaction', created_at, output, usage: usage ?? usageOf(nothing) };
}

/** @returns its newest event @throws RequestError `invalid_argument`: of another agent or user, or it does not end there */
async function requireNewest(client: Holdfast, { model, user }: Asked, { conversationId, messageId }: Continued) {
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
