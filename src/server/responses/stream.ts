/** A turn as the events of a streamed response. */
import type { Holdfast } from '../../client/holdfast.ts';
import type { LiveTextUpdate, TimelineEvent, WatchUpdate } from '../../client/types.ts';
import type { ResponseReference } from './ids.ts';
import { compactionItem, decisionItem, finishedCall, toolCallItems } from './items.ts';
import type { OutputItem, ResponseEvent, ToolCallItem } from './items.ts';
import { describeResponse, endedTurn, summariesOf } from './resource.ts';
import type { Echoed, ResponseResource } from './resource.ts';
import { SpokenAnswer } from './spoken-answer.ts';

export interface Streamed {
  readonly client: Holdfast;
  readonly reference: ResponseReference;
  readonly echoed: Echoed;
  readonly showsSummaries: boolean;
  /** Number of the newest event before the message. */
  readonly afterEvent: number;
  readonly signal: AbortSignal;
}

/** Events of the turn that takes the message, until it has ended. */
export async function* responseEvents(streamed: Streamed): AsyncGenerator<ResponseEvent> {
  const { client, reference, echoed, afterEvent, signal } = streamed;
  const { conversationId } = reference;
  const conversation = await client.conversation.get({ conversationId });
  const describe = async (output: readonly OutputItem[]): Promise<ResponseResource> =>
    describeResponse(reference, conversation, await endedTurn(client, reference), output, echoed);
  yield { type: 'response.created', response: await describe([]) };
  yield { type: 'response.in_progress', response: await describe([]) };
  const turn = new StreamedTurn(streamed);
  for await (const update of client.conversation.watch({ conversationId, afterSequence: afterEvent, signal })) {
    yield* await turn.show(update);
    if (turn.hasEnded) break;
  }
  if (signal.aborted) return;
  yield* turn.end();
  const response = await describe(turn.output);
  const { status } = response;
  const type = status === 'completed' || status === 'failed' ? status : 'incomplete';
  yield { type: `response.${type}`, response };
}

class StreamedTurn {
  hasEnded = false;
  readonly #streamed: Streamed;
  readonly #spoken: SpokenAnswer;
  /** Of calls that run, with the place of each in the output. */
  readonly #calls = new Map<string, { readonly item: ToolCallItem; readonly index: number }>();
  readonly #done = new Map<number, OutputItem>();
  #turnId: string | null = null;
  #items = 0;

  constructor(streamed: Streamed) {
    this.#streamed = streamed;
    this.#spoken = new SpokenAnswer(
      () => this.#items++,
      (index, item) => this.#done.set(index, item),
    );
  }

  /** Items that are done, without answers that a dead worker left. */
  get output(): OutputItem[] {
    return [...this.#done].toSorted(([one], [other]) => one - other).map(([, item]) => item);
  }

  async show(update: WatchUpdate): Promise<ResponseEvent[]> {
    if (update.type === 'live_text') return this.#live(update.text);
    const { event } = update;
    if (event.kind === 'message_taken' && event.data.messageId === this.#streamed.reference.messageId) {
      this.#turnId = event.turnId;
    } else if (this.#turnId !== null) {
      if (event.turnId === this.#turnId) return this.#event(event);
      // A successor has closed a turn whose workflow is gone.
      if (event.kind === 'turn_begun') this.hasEnded = true;
    }
    return [];
  }

  /** What was begun and does not end any more. */
  end(): ResponseEvent[] {
    const calls = [...this.#calls.values()].map(({ item, index }) => {
      const cut = { ...item, status: 'incomplete' as const };
      this.#done.set(index, cut);
      return { type: 'response.output_item.done', output_index: index, item: cut };
    });
    return [...this.#spoken.abandon(), ...calls];
  }

  #live(text: LiveTextUpdate): ResponseEvent[] {
    if (text.turnId !== this.#turnId || text.kind === 'tool_call') return [];
    return this.#spoken.live(this.#place(text.turnId), { ...text, kind: text.kind });
  }

  async #event(event: TimelineEvent): Promise<ResponseEvent[]> {
    const { client, reference, showsSummaries } = this.#streamed;
    const { conversationId } = reference;
    const place = this.#place(event.turnId ?? '');
    switch (event.kind) {
      case 'model_call_answered': {
        const entry = await client.log.open({ entryId: event.data.entryId });
        const calls = toolCallItems(place, entry);
        return [
          ...this.#spoken.stored(place, entry),
          ...calls.map((item) => {
            const index = this.#items++;
            this.#calls.set(item.id, { item, index });
            return { type: 'response.output_item.added', output_index: index, item };
          }),
        ];
      }
      case 'tool_call_finished': {
        const entry = await client.log.open({ entryId: event.data.entryId });
        return this.#finish(`${event.data.callNumber}.${event.data.callIndex}`, entry);
      }
      case 'decision_requested': {
        const { waitingCalls } = await client.conversation.get({ conversationId });
        const asked = waitingCalls.filter(({ call }) =>
          call.endsWith(`.${event.data.callNumber}.${event.data.callIndex}`),
        );
        return asked.flatMap((call) => this.#whole(decisionItem(conversationId, call)));
      }
      case 'compaction_committed': {
        const { compactionId } = event.data;
        const summaries = showsSummaries ? await summariesOf(client, conversationId) : null;
        const summary = summaries === null ? undefined : (summaries.get(compactionId) ?? null);
        return this.#whole(compactionItem(conversationId, compactionId, summary));
      }
      case 'turn_ended':
        this.hasEnded = true;
        return [];
      default:
        return [];
    }
  }

  #finish(name: string, entry: Parameters<typeof finishedCall>[1]): ResponseEvent[] {
    const [id, call] = [...this.#calls].find(([key]) => key.endsWith(`_${name}`)) ?? [];
    if (id === undefined || call === undefined) return [];
    this.#calls.delete(id);
    const item = finishedCall(call.item, entry);
    this.#done.set(call.index, item);
    return [{ type: 'response.output_item.done', output_index: call.index, item }];
  }

  #whole(item: OutputItem): ResponseEvent[] {
    const index = this.#items++;
    this.#done.set(index, item);
    return [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.output_item.done', output_index: index, item },
    ];
  }

  #place(turnId: string) {
    return { conversationId: this.#streamed.reference.conversationId, turnId };
  }
}
