import type { ContentPart } from '../../../context/log/content.ts';
import { RefusedInBody } from '../../call-failure.ts';
import { collected, recordOf, textOf, UNNAMED, citedText, vendorBlock } from '../answer-collector.ts';
import type { AnswerCollector, AnswerSource } from '../answer-collector.ts';
import { isRecord, numberOf, property } from '../json.ts';
import type { ModelAnswer, ReportedUsage, StopReason, StreamDelta } from '../../model-client.ts';
import { DONE } from '../server-events.ts';

type Item = Readonly<Record<string, unknown>>;

/** One item of the output, from all that was said of it. */
interface Slot {
  readonly outputIndex: number;
  /** As it was begun, done, and listed at the end: a later one need not say more. */
  readonly said: { begun?: Item; done?: Item; listed?: Item };
  /** What its pieces and their last events said. */
  text: string;
  refusal: string;
  reasoning: string;
  arguments: string;
}

/**
 * Collects the events of one Responses stream. Of each item the best source counts, field by field: the item when it was
 * done, the list in the last event, the pieces. Gateways leave out any of them.
 */
export class ResponsesCollector implements AnswerCollector {
  readonly #source: AnswerSource;
  readonly #slots: Slot[] = [];
  #response: unknown;
  #isOver = false;

  constructor(source: AnswerSource) {
    this.#source = source;
  }

  get state(): AnswerCollector['state'] {
    return this.#isOver ? 'over' : 'open';
  }

  take(event: unknown): readonly StreamDelta[] {
    if (event === DONE || property(event, 'object') === 'response') return this.#end(event);
    switch (property(event, 'type')) {
      case 'response.output_item.added':
        return this.#begin(event);
      case 'response.output_item.done':
        this.#slotOf(event).said.done = recordOf(property(event, 'item'));
        return [];
      case 'response.output_text.delta':
        return this.#extend(event, 'text');
      case 'response.refusal.delta':
        return this.#extend(event, 'refusal');
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#extend(event, 'reasoning');
      case 'response.function_call_arguments.delta':
        return this.#extend(event, 'arguments');
      case 'response.output_text.done':
        return this.#complete(event, 'text');
      case 'response.function_call_arguments.done':
        return this.#complete(event, 'arguments');
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(property(event, 'response'));
      // Both come as ordinary events with HTTP 200.
      case 'response.failed':
        throw new RefusedInBody(property(event, 'response', 'error') ?? property(event, 'response'));
      case 'error':
        throw new RefusedInBody(event);
      default:
        return [];
    }
  }

  finish(): ModelAnswer {
    const items = this.#slots.toSorted((a, b) => a.outputIndex - b.outputIndex).map(itemOf);
    const id = property(this.#response, 'id');
    return collected(
      { content: this.#content(items), stopReason: stopReasonOf(this.#response, items) },
      reportedUsage(property(this.#response, 'usage')),
      typeof id === 'string' ? id : undefined,
    );
  }

  #end(response: unknown): [] {
    this.#isOver = true;
    this.#response = response;
    const output = property(response, 'output');
    if (Array.isArray(output)) for (const [index, item] of output.entries()) this.#list(recordOf(item), index);
    return [];
  }

  /** Gateways leave items out of the list: an item is found by its id, else by its place if it is of the same kind. */
  #list(item: Item, index: number): void {
    const free = this.#slots.filter(({ said }) => said.listed === undefined);
    const isSame = (slot: Slot): boolean =>
      ['id', 'call_id'].some(
        (key) => item[key] != null && [slot.said.begun, slot.said.done].some((each) => each?.[key] === item[key]),
      );
    const slot =
      free.find(isSame) ??
      free.find((each) => each.outputIndex === index && (itemOf(each)['type'] ?? item['type']) === item['type']) ??
      this.#add(Math.max(index, ...this.#slots.map(({ outputIndex }) => outputIndex + 1)));
    slot.said.listed = item;
  }

  #begin(event: unknown): StreamDelta[] {
    const slot = this.#slotOf(event);
    slot.said.begun = recordOf(property(event, 'item'));
    const { type, name } = slot.said.begun;
    if (type !== 'function_call') return [];
    const argumentsText = textOf(slot.said.begun['arguments']);
    return [{ kind: 'tool_call', index: this.#callIndex(slot), name: this.#nameOf(name), argumentsText }];
  }

  #extend(event: unknown, field: 'text' | 'refusal' | 'reasoning' | 'arguments'): StreamDelta[] {
    const slot = this.#slotOf(event);
    const piece = textOf(property(event, 'delta'));
    slot[field] += piece;
    if (piece === '') return [];
    if (field !== 'arguments') return [{ kind: field === 'reasoning' ? 'thinking' : 'text', text: piece }];
    return [{ kind: 'tool_call', index: this.#callIndex(slot), argumentsText: piece }];
  }

  #complete(event: unknown, field: 'text' | 'arguments'): [] {
    const whole = property(event, field);
    const slot = this.#slotOf(event);
    // A message may have several texts, each with its own last event.
    if (field === 'arguments' || slot.text === '') slot[field] = textOf(whole) || slot[field];
    return [];
  }

  /** Index among the tool calls. */
  #callIndex(slot: Slot): number {
    return this.#slots.filter((each) => itemOf(each)['type'] === 'function_call').indexOf(slot);
  }

  /** By the index of the output, else by the item's id, else the newest. */
  #slotOf(event: unknown): Slot {
    const id = property(event, 'item_id') ?? property(event, 'item', 'id');
    const index = numberOf(property(event, 'output_index'));
    if (index !== undefined) return this.#slots.find(({ outputIndex }) => outputIndex === index) ?? this.#add(index);
    const ofId = this.#slots.find(({ said }) => id != null && said.begun?.['id'] === id);
    if (ofId !== undefined) return ofId;
    const newest = property(event, 'item') === undefined ? this.#slots.at(-1) : undefined;
    return newest ?? this.#add(Math.max(0, ...this.#slots.map(({ outputIndex }) => outputIndex + 1)));
  }

  #add(outputIndex: number): Slot {
    const slot: Slot = { outputIndex, said: {}, text: '', refusal: '', reasoning: '', arguments: '' };
    this.#slots.push(slot);
    return slot;
  }

  #nameOf(name: unknown): string {
    return typeof name === 'string' && name !== '' ? this.#source.declaredName(name) : UNNAMED;
  }

  #content(items: readonly Item[]): ContentPart[] {
    let calls = 0;
    return items.flatMap((item): ContentPart[] => {
      if (item['type'] === 'reasoning') return [this.#reasoning(item)];
      if (item['type'] === 'message') return this.#message(item);
      if (item['type'] !== 'function_call') return [vendorBlock(this.#source.provider, item)];
      const index = calls;
      calls += 1;
      const id = textOf(item['call_id']) || textOf(item['id']) || `call_${index}`;
      return [{ type: 'tool_call', index, id, name: this.#nameOf(item['name']), arguments: textOf(item['arguments']) }];
    });
  }

  /** The signature holds what identifies the item, so that it goes back as it came. */
  #reasoning(item: Item): ContentPart {
    const summary = textsOf(item['summary']);
    const content = Array.isArray(item['content']) ? textsOf(item['content']) : undefined;
    const encrypted = textOf(item['encrypted_content']);
    return {
      type: 'thinking',
      text: [...summary, ...(content ?? [])].join('\n\n'),
      provider: this.#source.provider,
      signature: JSON.stringify({ id: item['id'], summary, ...(content === undefined ? {} : { content }) }),
      ...(encrypted === '' ? {} : { encrypted }),
    };
  }

  /** The phase of a message has to go back too; it travels in a thinking part without text before it. */
  #message(item: Item): ContentPart[] {
    const text = textsOf(item['content']).join('');
    if (text === '') return [];
    const said: ContentPart = citedText(
      text,
      recordsIn(item['content']).flatMap((part) => recordsIn(part['annotations'])),
    );
    if (typeof item['phase'] !== 'string') return [said];
    const signature = JSON.stringify({ phase: item['phase'] });
    return [{ type: 'thinking', text: '', provider: this.#source.provider, signature }, said];
  }
}

/** What is known of an item: of each field the first source that says something. */
function itemOf({ said, ...pieces }: Slot): Item {
  const type = pieces.arguments !== '' ? 'function_call' : pieces.reasoning !== '' ? 'reasoning' : 'message';
  const item: Record<string, unknown> = {};
  for (const source of [said.done, said.listed, said.begun, { type }]) {
    for (const [key, value] of Object.entries(source ?? {})) if (isNothing(item[key])) item[key] = value;
  }
  if (item['type'] === 'function_call' && isNothing(item['arguments'])) item['arguments'] = pieces.arguments;
  if (
    item['type'] === 'reasoning' &&
    pieces.reasoning !== '' &&
    isNothing(item['summary']) &&
    isNothing(item['content'])
  )
    item['summary'] = [{ type: 'summary_text', text: pieces.reasoning }];
  if (item['type'] === 'message' && isNothing(item['content']))
    item['content'] = [
      { type: 'output_text', text: pieces.text },
      ...(pieces.refusal === '' ? [] : [{ type: 'refusal', refusal: pieces.refusal }]),
    ];
  return item;
}

/** Whether a field says nothing: also a list of texts that are all empty. */
function isNothing(value: unknown): boolean {
  if (value == null || value === '') return true;
  return (
    Array.isArray(value) && value.every((part) => textOf(property(part, 'text') ?? property(part, 'refusal')) === '')
  );
}

function textsOf(parts: unknown): string[] {
  return recordsIn(parts).map((part) => textOf(part['text'] ?? part['refusal']));
}

function recordsIn(list: unknown): readonly Item[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function stopReasonOf(response: unknown, items: readonly Item[]): StopReason {
  if (property(response, 'status') === 'incomplete') {
    switch (property(response, 'incomplete_details', 'reason')) {
      case 'max_output_tokens':
        return 'maximum_output';
      case 'content_filter':
        return 'content_filter';
      default:
        return 'other';
    }
  }
  const refused = items.some((item) => recordsIn(item['content']).some((part) => part['type'] === 'refusal'));
  if (refused) return 'refusal';
  return items.some((item) => item['type'] === 'function_call') ? 'tool_calls' : 'end';
}

function reportedUsage(usage: unknown): ReportedUsage | undefined {
  const input = numberOf(property(usage, 'input_tokens'));
  const output = numberOf(property(usage, 'output_tokens'));
  if (input === undefined || output === undefined) return undefined;
  const details = property(usage, 'input_tokens_details');
  const cacheRead = numberOf(property(details, 'cached_tokens')) ?? 0;
  const cacheWrite = numberOf(property(details, 'cache_write_tokens')) ?? 0;
  return { input, cacheRead, cacheWrite, output };
}
