import type OpenAI from 'openai';
import type { ContentPart, ThinkingPart } from '../../../context/log/content.ts';
import { jsonOf } from '../../../context/log/nested-json.ts';
import { StreamFailure, type AnswerCollector } from '../answer-collector.ts';
import { REASONING_DETAILS, TOOL_CALL_EXTRA } from './request.ts';
import { numberOf, property } from '../json.ts';
import type { ModelAnswer, ReportedUsage, StopReason, StreamDelta } from '../../model-client.ts';
import { stopReasonNamed } from '../stop-reason.ts';

/** Fields in which compatible servers stream reasoning (DeepSeek, vLLM, Kimi; OpenRouter, Groq; llama.cpp). */
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;

interface Call {
  id: string;
  name: string;
  arguments: string;
  /** What the server wants back with the call (Gemini's thought signature). */
  extra: unknown;
}

/**
 * Collects the chunks of one Chat Completions stream. What compatible servers add to the protocol
 * is read where it is found; reasoning is kept as a thinking part whose signature is the name of
 * the field that it came in, since that field is where the server wants it back.
 */
export class ChatCollector implements AnswerCollector<OpenAI.ChatCompletionChunk> {
  readonly #provider: string;
  readonly #declaredName: (vendorName: string) => string;
  readonly #reasoning = new Map<string, string>();
  readonly #reasoningDetails: unknown[] = [];
  readonly #calls: Call[] = [];
  /** Position in `#calls` of the newest call with the server's index. */
  readonly #positions = new Map<number, number>();
  #text = '';
  #refusal = '';
  #responseId: string | undefined;
  #stopReason: string | undefined;
  #usage: ReportedUsage | undefined;

  /** `declaredName` translates tool names back to those declared. */
  constructor(options: { readonly provider: string; readonly declaredName: (vendorName: string) => string }) {
    this.#provider = options.provider;
    this.#declaredName = options.declaredName;
  }

  take(chunk: OpenAI.ChatCompletionChunk): readonly StreamDelta[] {
    if (typeof chunk.id === 'string' && chunk.id !== '') this.#responseId ??= chunk.id;
    const choice: unknown = property(chunk, 'choices', 0);
    const usage = property(chunk, 'usage') ?? property(choice, 'usage') ?? property(chunk, 'x_groq', 'usage');
    this.#usage = reportedUsage(usage) ?? this.#usage;
    const reason = property(choice, 'finish_reason');
    // OpenRouter and others end a stream that failed this way; the words stand beside it.
    if (reason === 'error') throw new StreamFailure(property(choice, 'error') ?? choice);
    if (typeof reason === 'string' && reason !== '') this.#stopReason = reason;
    const delta = property(choice, 'delta');
    return [...this.#takeReasoning(delta), ...this.#takeText(delta), ...this.#takeCalls(property(delta, 'tool_calls'))];
  }

  finish(): ModelAnswer | undefined {
    if (this.#stopReason === undefined) return undefined;
    return {
      content: this.#content(),
      stopReason: this.#refusal === '' ? toStopReason(this.#stopReason, this.#calls.length) : 'refusal',
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
    };
  }

  #takeReasoning(delta: unknown): StreamDelta[] {
    const details = property(delta, REASONING_DETAILS);
    if (Array.isArray(details)) this.#reasoningDetails.push(...details);
    const field = REASONING_FIELDS.find((name) => isText(property(delta, name)));
    const text = field === undefined ? undefined : property(delta, field);
    if (field === undefined || !isText(text)) return [];
    this.#reasoning.set(field, (this.#reasoning.get(field) ?? '') + text);
    return [{ kind: 'thinking', text }];
  }

  #takeText(delta: unknown): StreamDelta[] {
    const refusal = property(delta, 'refusal');
    if (isText(refusal)) {
      this.#refusal += refusal;
      return [{ kind: 'text', text: refusal }];
    }
    const content = property(delta, 'content');
    // Mistral's reasoning models stream lists of parts instead of text.
    const parts: unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }];
    return parts.flatMap((part): StreamDelta[] => {
      const text = property(part, 'text');
      if (!isText(text)) return [];
      this.#text += text;
      return [{ kind: 'text', text }];
    });
  }

  #takeCalls(calls: unknown): StreamDelta[] {
    if (!Array.isArray(calls)) return [];
    return calls.flatMap((piece: unknown): StreamDelta[] => {
      const [position, call] = this.#callOf(piece);
      const name = property(piece, 'function', 'name');
      const written = property(piece, 'function', 'arguments');
      const named = isText(name) && call.name === '' ? this.#declaredName(name) : undefined;
      if (named !== undefined) call.name = named;
      // A few servers give the arguments as an object.
      const argumentsText = typeof written === 'string' ? written : written == null ? '' : jsonOf(written);
      call.arguments += argumentsText;
      call.extra ??= property(piece, TOOL_CALL_EXTRA);
      return [{ kind: 'tool_call', index: position, ...(named === undefined ? {} : { name: named }), argumentsText }];
    });
  }

  /**
   * The call that a piece belongs to. Gemini's endpoint gives every call of an answer the index 0
   * or none; there a new id begins a new call.
   */
  #callOf(piece: unknown): readonly [position: number, call: Call] {
    const index = numberOf(property(piece, 'index')) ?? 0;
    const id = property(piece, 'id');
    const position = this.#positions.get(index);
    const known = position === undefined ? undefined : this.#calls[position];
    if (position !== undefined && known !== undefined && (!isText(id) || id === known.id)) return [position, known];
    const call: Call = {
      id: isText(id) ? id : `call_${this.#calls.length}`,
      name: '',
      arguments: '',
      extra: undefined,
    };
    this.#positions.set(index, this.#calls.length);
    this.#calls.push(call);
    return [this.#calls.length - 1, call];
  }

  #content(): ContentPart[] {
    const text = this.#text + this.#refusal;
    return [
      ...[...this.#reasoning].map(([field, reasoning]) => this.#thinking(reasoning, field)),
      ...(this.#reasoningDetails.length === 0
        ? []
        : [this.#thinking('', REASONING_DETAILS, JSON.stringify(this.#reasoningDetails))]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...this.#calls.flatMap((call, index): ContentPart[] => [
        ...(call.extra === undefined ? [] : [this.#thinking('', TOOL_CALL_EXTRA, JSON.stringify(call.extra))]),
        { type: 'tool_call', index, id: call.id, name: call.name, arguments: call.arguments },
      ]),
    ];
  }

  #thinking(text: string, field: string, encrypted?: string): ThinkingPart {
    const proof = encrypted === undefined ? { signature: field } : { signature: field, encrypted };
    return { type: 'thinking', text, provider: this.#provider, ...proof };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Several servers say `stop` where they call tools, or the other way round. */
function toStopReason(reason: string, toolCalls: number): StopReason {
  const named = stopReasonNamed(reason);
  if (named !== 'end' && named !== 'tool_calls') return named;
  return toolCalls > 0 ? 'tool_calls' : 'end';
}

/**
 * `prompt_tokens` counts cached input too. xAI and Gemini leave reasoning out of
 * `completion_tokens`; the difference to the total holds it.
 */
function reportedUsage(usage: unknown): ReportedUsage | undefined {
  const input = numberOf(property(usage, 'prompt_tokens'));
  const completion = numberOf(property(usage, 'completion_tokens'));
  if (input === undefined || completion === undefined) return undefined;
  const total = numberOf(property(usage, 'total_tokens')) ?? 0;
  const details = property(usage, 'prompt_tokens_details');
  const cacheRead =
    numberOf(property(details, 'cached_tokens')) ??
    numberOf(property(usage, 'prompt_cache_hit_tokens')) ??
    numberOf(property(usage, 'cached_tokens')) ??
    0;
  const cacheWrite = numberOf(property(details, 'cache_write_tokens')) ?? 0;
  return { input, cacheRead, cacheWrite, output: Math.max(completion, total - input) };
}
