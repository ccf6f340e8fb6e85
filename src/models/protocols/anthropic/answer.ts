import type { ContentPart } from '../../../context/log/content.ts';
import { jsonOf } from '../../../context/log/nested-json.ts';
import { definedOf } from '../../../context/policy/defined-of.ts';
import { citedText, joinCited, collected, recordOf, textOf, UNNAMED, stopReasonNamed } from '../answer-collector.ts';
import { vendorBlock } from '../answer-collector.ts';
import type { AnswerCollector, AnswerSource } from '../answer-collector.ts';
import { isRecord, numberOf, parseJson, property } from '../json.ts';
import type { ModelAnswer, ReportedUsage, StreamDelta } from '../../model-client.ts';
import { DONE } from '../server-events.ts';

type Block =
  | { readonly kind: 'text'; text: string; readonly citations: unknown[] }
  | { readonly kind: 'thinking'; text: string; signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | { readonly kind: 'other'; readonly given: Readonly<Record<string, unknown>>; input: string }
  | {
      readonly kind: 'tool_call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      input: string;
      readonly given: unknown;
    };

/** Collects the events of one Messages stream. */
export class AnthropicCollector implements AnswerCollector {
  readonly #source: AnswerSource;
  readonly #blocks: Block[] = [];
  /** The newest block with the server's index; a few servers give an index twice. */
  readonly #byIndex = new Map<unknown, Block>();
  #toolCalls = 0;
  #isOver = false;
  #responseId: string | undefined;
  #stopReason: string | undefined;
  #usage: unknown;

  constructor(source: AnswerSource) {
    this.#source = source;
  }

  get state(): AnswerCollector['state'] {
    if (this.#isOver) return 'over';
    return this.#stopReason === undefined ? 'open' : 'whole';
  }

  take(event: unknown): readonly StreamDelta[] {
    switch (property(event, 'type')) {
      case 'message_start':
        this.#takeMessage(property(event, 'message'));
        return [];
      case 'message_delta':
        this.#takeMessage({ ...recordOf(property(event, 'delta')), usage: property(event, 'usage') });
        return [];
      case 'content_block_start':
        return this.#start(property(event, 'index'), property(event, 'content_block'));
      case 'content_block_delta':
        return this.#extend(property(event, 'index'), property(event, 'delta'));
      case 'message_stop':
        this.#isOver = true;
        return [];
      case 'message': {
        // A server that does not stream.
        this.#takeMessage(event);
        const content = property(event, 'content');
        return Array.isArray(content) ? content.flatMap((block, index) => this.#start(index, block)) : [];
      }
      default:
        // Event types are added over time; one that is not known cannot change the answer.
        if (event === DONE) this.#isOver = true;
        return [];
    }
  }

  finish(): ModelAnswer {
    const content = joinCited(this.#blocks.flatMap((block) => toPart(block, this.#source.provider)));
    const stopReason = stopReasonNamed(this.#stopReason ?? (this.#toolCalls > 0 ? 'tool_use' : 'end_turn'));
    return collected({ content, stopReason }, reportedUsage(this.#usage), this.#responseId);
  }

  #takeMessage(message: unknown): void {
    this.#responseId ??= textOf(property(message, 'id')) || undefined;
    this.#stopReason = textOf(property(message, 'stop_reason')) || this.#stopReason;
    this.#usage = laterUsage(this.#usage, property(message, 'usage'));
  }

  #start(index: unknown, block: unknown): StreamDelta[] {
    const field = (name: string): string => textOf(property(block, name));
    switch (property(block, 'type')) {
      case 'text': {
        const citations = property(block, 'citations');
        const cited = Array.isArray(citations) ? [...citations] : [];
        return lengthen(this.#add(index, { kind: 'text', text: '', citations: cited }), 'text', field('text'));
      }
      case 'thinking': {
        const begun = this.#add(index, { kind: 'thinking', text: '', signature: field('signature') });
        return lengthen(begun, 'thinking', field('thinking'));
      }
      case 'redacted_thinking':
        this.#add(index, { kind: 'redacted', data: field('data') });
        return [];
      case 'tool_use':
        return this.#startCall(index, { id: field('id'), name: field('name'), given: property(block, 'input') });
      default:
        this.#add(index, { kind: 'other', given: recordOf(block), input: '' });
        return [];
    }
  }

  #startCall(at: unknown, { id, name: named, given }: { id: string; name: string; given: unknown }): StreamDelta[] {
    const index = this.#toolCalls;
    this.#toolCalls += 1;
    const name = named === '' ? UNNAMED : this.#source.declaredName(named);
    this.#add(at, { kind: 'tool_call', index, id: id || `toolu_${index}`, name, input: '', given });
    return [{ kind: 'tool_call', index, name, argumentsText: '' }];
  }

  #add(index: unknown, block: Block): Block {
    this.#blocks.push(block);
    this.#byIndex.set(index, block);
    return block;
  }

  #extend(index: unknown, delta: unknown): StreamDelta[] {
    const block = this.#byIndex.get(index);
    const field = (name: string): string => textOf(property(delta, name));
    switch (property(delta, 'type')) {
      // A few servers begin no block.
      case 'text_delta':
        return lengthen(block ?? this.#add(index, { kind: 'text', text: '', citations: [] }), 'text', field('text'));
      case 'thinking_delta': {
        const of = block ?? this.#add(index, { kind: 'thinking', text: '', signature: '' });
        return lengthen(of, 'thinking', field('thinking'));
      }
      case 'citations_delta':
        if (block?.kind === 'text') block.citations.push(property(delta, 'citation'));
        return [];
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += field('signature');
        return [];
      case 'input_json_delta': {
        if (block?.kind === 'other') block.input += field('partial_json');
        if (block?.kind !== 'tool_call') return [];
        // A few servers write an empty object before the one that counts.
        if (block.input.trim() === '{}') block.input = '';
        const argumentsText = field('partial_json');
        block.input += argumentsText;
        return [{ kind: 'tool_call', index: block.index, argumentsText }];
      }
      default:
        return [];
    }
  }
}

function lengthen(block: Block, kind: 'text' | 'thinking', piece: string): StreamDelta[] {
  if (block.kind !== kind || piece === '') return [];
  block.text += piece;
  return [{ kind, text: piece }];
}

function toPart(block: Block, provider: string): ContentPart[] {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? [] : [citedText(block.text, block.citations)];
    case 'thinking':
      // Text may be empty (`display: omitted`): with a signature the block is complete.
      return [
        { type: 'thinking', text: block.text, provider, ...definedOf({ signature: block.signature || undefined }) },
      ];
    case 'redacted':
      return [{ type: 'thinking', text: '', provider, encrypted: block.data }];
    case 'other': {
      const input = block.input === '' ? {} : { input: parseJson(block.input) ?? {} };
      return [vendorBlock(provider, { ...block.given, ...input })];
    }
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
