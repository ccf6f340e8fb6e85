import type Anthropic from '@anthropic-ai/sdk';
import type { ContentPart } from '../../../context/log/content.ts';
import { jsonOf } from '../../../context/log/nested-json.ts';
import { citedText, joinCited } from '../cited-text.ts';
import type { AnswerCollector } from '../answer-collector.ts';
import { isRecord, numberOf, property } from '../json.ts';
import type { ModelAnswer, ReportedUsage, StreamDelta } from '../../model-client.ts';
import { stopReasonNamed } from '../stop-reason.ts';

type Block =
  | { readonly kind: 'text'; text: string; readonly citations: unknown[] }
  | { readonly kind: 'thinking'; text: string; signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | {
      readonly kind: 'tool_call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      input: string;
      readonly given: unknown;
    };

/** Collects the events of one Messages stream. Blocks of kinds that Holdfast never asks for are passed over. */
export class AnthropicCollector implements AnswerCollector<Anthropic.RawMessageStreamEvent> {
  readonly #provider: string;
  readonly #declaredName: (vendorName: string) => string;
  readonly #blocks = new Map<number, Block>();
  #toolCalls = 0;
  #responseId: string | undefined;
  #stopReason: string | null = null;
  #usage: unknown;

  /** `declaredName` translates tool names back to those declared. */
  constructor(options: { readonly provider: string; readonly declaredName: (vendorName: string) => string }) {
    this.#provider = options.provider;
    this.#declaredName = options.declaredName;
  }

  take(event: Anthropic.RawMessageStreamEvent): readonly StreamDelta[] {
    switch (event.type) {
      case 'message_start':
        this.#responseId = event.message.id;
        this.#usage = event.message.usage;
        return [];
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#usage = laterUsage(this.#usage, event.usage);
        return [];
      case 'content_block_start':
        return this.#start(event);
      case 'content_block_delta':
        return this.#extend(event);
      case 'content_block_stop':
      case 'message_stop':
      default:
        // Event types are added over time; one that is not known cannot change the answer.
        return [];
    }
  }

  finish(): ModelAnswer | undefined {
    if (this.#stopReason === null) return undefined;
    const usage = reportedUsage(this.#usage);
    return {
      content: joinCited([...this.#blocks.values()].flatMap((block) => toPart(block, this.#provider))),
      stopReason: stopReasonNamed(this.#stopReason),
      ...(usage === undefined ? {} : { usage }),
      ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
    };
  }

  #start(event: Anthropic.RawContentBlockStartEvent): StreamDelta[] {
    const block = event.content_block;
    if (block.type === 'text') {
      this.#blocks.set(event.index, { kind: 'text', text: block.text, citations: [...(block.citations ?? [])] });
      return block.text === '' ? [] : [{ kind: 'text', text: block.text }];
    }
    if (block.type === 'thinking') {
      this.#blocks.set(event.index, { kind: 'thinking', text: block.thinking, signature: block.signature });
      return block.thinking === '' ? [] : [{ kind: 'thinking', text: block.thinking }];
    }
    if (block.type === 'redacted_thinking') {
      this.#blocks.set(event.index, { kind: 'redacted', data: block.data });
    }
    if (block.type !== 'tool_use') return [];
    const index = this.#toolCalls;
    this.#toolCalls += 1;
    const name = this.#declaredName(block.name);
    this.#blocks.set(event.index, { kind: 'tool_call', index, id: block.id, name, input: '', given: block.input });
    return [{ kind: 'tool_call', index, name, argumentsText: '' }];
  }

  #extend(event: Anthropic.RawContentBlockDeltaEvent): StreamDelta[] {
    const block = this.#blocks.get(event.index);
    const { delta } = event;
    if (delta.type === 'text_delta' && block?.kind === 'text') {
      block.text += delta.text;
      return [{ kind: 'text', text: delta.text }];
    }
    if (delta.type === 'thinking_delta' && block?.kind === 'thinking') {
      block.text += delta.thinking;
      return [{ kind: 'thinking', text: delta.thinking }];
    }
    if (delta.type === 'citations_delta' && block?.kind === 'text') block.citations.push(delta.citation);
    if (delta.type === 'signature_delta' && block?.kind === 'thinking') block.signature += delta.signature;
    if (delta.type === 'input_json_delta' && block?.kind === 'tool_call') {
      block.input += delta.partial_json;
      return [{ kind: 'tool_call', index: block.index, argumentsText: delta.partial_json }];
    }
    return [];
  }
}

function toPart(block: Block, provider: string): ContentPart[] {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? [] : [citedText(block.text, block.citations)];
    case 'thinking':
      // Text may be empty (`display: omitted`): with a signature the block is complete.
      return [
        {
          type: 'thinking',
          text: block.text,
          provider,
          ...(block.signature === '' ? {} : { signature: block.signature }),
        },
      ];
    case 'redacted':
      return [{ type: 'thinking', text: '', provider, encrypted: block.data }];
    case 'tool_call': {
      // Compatible servers give the whole input at the start; Anthropic gives `{}` there, which says nothing.
      const given = isRecord(block.given) && Object.keys(block.given).length > 0 ? jsonOf(block.given) : '';
      const written = block.input === '' ? given : block.input;
      return [{ type: 'tool_call', index: block.index, id: block.id, name: block.name, arguments: written }];
    }
  }
}

const COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'] as const;

/** The counts of `message_delta` are cumulative, but servers leave out those of the input or send `null`. */
function laterUsage(earlier: unknown, later: unknown): unknown {
  const counts = COUNTS.map((key) => [key, numberOf(property(later, key)) ?? numberOf(property(earlier, key))]);
  return {
    ...Object.fromEntries(counts),
    cache_creation: property(later, 'cache_creation') ?? property(earlier, 'cache_creation'),
  };
}

/** Anthropic counts cached input apart from `input_tokens`; here `input` is everything read. */
function reportedUsage(usage: unknown): ReportedUsage | undefined {
  const [uncached, cacheRead = 0, cacheWrite = 0, output] = COUNTS.map((key) => numberOf(property(usage, key)));
  if (uncached === undefined || output === undefined) return undefined;
  const forAnHour = numberOf(property(usage, 'cache_creation', 'ephemeral_1h_input_tokens')) ?? 0;
  return {
    input: uncached + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    ...(forAnHour > 0 ? { cacheWriteForAnHour: Math.min(forAnHour, cacheWrite) } : {}),
    output,
  };
}
