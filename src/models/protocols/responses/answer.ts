import type OpenAI from 'openai';
import type { ContentPart } from '../../../context/log/content.ts';
import { StreamFailure, type AnswerCollector } from '../answer-collector.ts';
import { citedText } from '../cited-text.ts';
import { numberOf, property } from '../json.ts';
import type { ModelAnswer, ReportedUsage, StopReason, StreamDelta } from '../../model-client.ts';

type Event = OpenAI.Responses.ResponseStreamEvent;
type OutputItem = OpenAI.Responses.ResponseOutputItem;

/**
 * Collects the events of one Responses stream. The items count as they were when done; the list in
 * the last event is used only where a server sends no such events.
 */
export class ResponsesCollector implements AnswerCollector<Event> {
  readonly #provider: string;
  readonly #declaredName: (vendorName: string) => string;
  readonly #items = new Map<number, OutputItem>();
  /** Index among the tool calls by the item's index in the output. */
  readonly #callIndexes = new Map<number, number>();
  #response: OpenAI.Responses.Response | undefined;

  /** `declaredName` translates tool names back to those declared. */
  constructor(options: { readonly provider: string; readonly declaredName: (vendorName: string) => string }) {
    this.#provider = options.provider;
    this.#declaredName = options.declaredName;
  }

  take(event: Event): readonly StreamDelta[] {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- tools of OpenAI that Holdfast never asks for have forty events of their own
    switch (event.type) {
      case 'response.output_item.added':
        return this.#begin(event.output_index, event.item);
      case 'response.output_item.done':
        this.#items.set(event.output_index, event.item);
        return [];
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return [{ kind: 'text', text: event.delta }];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return [{ kind: 'thinking', text: event.delta }];
      case 'response.function_call_arguments.delta': {
        const index = this.#callIndexes.get(event.output_index);
        return index === undefined ? [] : [{ kind: 'tool_call', index, argumentsText: event.delta }];
      }
      case 'response.completed':
      case 'response.incomplete':
        this.#response = event.response;
        return [];
      // Both come as ordinary events with HTTP 200.
      case 'response.failed':
        throw new StreamFailure(event.response.error ?? event.response);
      case 'error':
        throw new StreamFailure(event);
      default:
        return [];
    }
  }

  finish(): ModelAnswer | undefined {
    const response = this.#response;
    if (response === undefined) return undefined;
    const collected = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const items = collected.length > 0 ? collected : (response.output ?? []);
    const usage = reportedUsage(response.usage);
    return {
      content: this.#content(items),
      stopReason: stopReasonOf(response, items),
      ...(usage === undefined ? {} : { usage }),
      ...(typeof response.id === 'string' ? { responseId: response.id } : {}),
    };
  }

  #begin(outputIndex: number, item: OutputItem): StreamDelta[] {
    if (item.type !== 'function_call') return [];
    const index = this.#callIndexes.size;
    this.#callIndexes.set(outputIndex, index);
    return [{ kind: 'tool_call', index, name: this.#declaredName(item.name), argumentsText: item.arguments ?? '' }];
  }

  #content(items: readonly OutputItem[]): ContentPart[] {
    let calls = 0;
    return items.flatMap((item): ContentPart[] => {
      if (item.type === 'reasoning') return [this.#reasoning(item)];
      if (item.type === 'message') return this.#message(item);
      if (item.type !== 'function_call') return [];
      const index = calls;
      calls += 1;
      const name = this.#declaredName(item.name);
      const id = item.call_id || item.id || `call_${index}`;
      return [{ type: 'tool_call', index, id, name, arguments: item.arguments }];
    });
  }

  /** The signature holds what identifies the item, so that it goes back as it came. */
  #reasoning(item: OpenAI.Responses.ResponseReasoningItem): ContentPart {
    const summary = (item.summary ?? []).map((part) => part.text);
    const content = item.content?.map((part) => part.text);
    return {
      type: 'thinking',
      text: [...summary, ...(content ?? [])].join('\n\n'),
      provider: this.#provider,
      signature: JSON.stringify({ id: item.id, summary, ...(content === undefined ? {} : { content }) }),
      ...(item.encrypted_content ? { encrypted: item.encrypted_content } : {}),
    };
  }

  /** The phase of a message has to go back too; it travels in a thinking part without text before it. */
  #message(item: OpenAI.Responses.ResponseOutputMessage): ContentPart[] {
    const text = item.content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('');
    if (text === '') return [];
    const sources = item.content.flatMap((part) => (part.type === 'refusal' ? [] : (part.annotations ?? [])));
    const said: ContentPart = citedText(text, sources);
    if (item.phase == null) return [said];
    const signature = JSON.stringify({ phase: item.phase });
    return [{ type: 'thinking', text: '', provider: this.#provider, signature }, said];
  }
}

function stopReasonOf(response: OpenAI.Responses.Response, items: readonly OutputItem[]): StopReason {
  if (response.status === 'incomplete') {
    switch (response.incomplete_details?.reason) {
      case 'max_output_tokens':
        return 'maximum_output';
      case 'content_filter':
        return 'content_filter';
      case undefined:
      default:
        return 'other';
    }
  }
  const refused = items.some((item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'));
  if (refused) return 'refusal';
  return items.some((item) => item.type === 'function_call') ? 'tool_calls' : 'end';
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
