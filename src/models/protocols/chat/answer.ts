import type { ContentPart, ThinkingPart } from '../../../context/log/content.ts';
import { RefusedInBody } from '../../call-failure.ts';
import { collected, textOf, UNNAMED, stopReasonNamed } from '../answer-collector.ts';
import type { AnswerCollector, AnswerSource } from '../answer-collector.ts';
import { REASONING_DETAILS, TOOL_CALL_EXTRA } from './request.ts';
import { numberOf, parseJson, property } from '../json.ts';
import type { ModelAnswer, ReportedUsage, StopReason, StreamDelta } from '../../model-client.ts';
import { DONE } from '../server-events.ts';

/** Fields in which compatible servers stream reasoning (DeepSeek, vLLM, Kimi; OpenRouter, Groq; llama.cpp). */
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;

interface Call {
  /** Empty until the server gives one. */
  id: string;
  /** The server's index, where it gives one. */
  index: number | undefined;
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
export class ChatCollector implements AnswerCollector {
  readonly #source: AnswerSource;
  readonly #reasoning = new Map<string, string>();
  readonly #reasoningDetails: unknown[] = [];
  readonly #calls: Call[] = [];
  #text = '';
  #refusal = '';
  #isDone = false;
  #responseId: string | undefined;
  #stopReason: string | undefined;
  #usage: ReportedUsage | undefined;

  constructor(source: AnswerSource) {
    this.#source = source;
  }

  get state(): AnswerCollector['state'] {
    if (this.#isDone) return 'over';
    return this.#stopReason === undefined ? 'open' : 'whole';
  }

  take(event: unknown): readonly StreamDelta[] {
    if (event === DONE) {
      this.#isDone = true;
      return [];
    }
    const id = property(event, 'id');
    if (isText(id)) this.#responseId ??= id;
    const choice = property(event, 'choices', 0);
    const usage = property(event, 'usage') ?? property(choice, 'usage') ?? property(event, 'x_groq', 'usage');
    this.#usage = reportedUsage(usage) ?? this.#usage;
    const reason = property(choice, 'finish_reason');
    // OpenRouter and others end a stream that failed this way; the words stand beside it.
    if (reason === 'error') throw new RefusedInBody(property(choice, 'error') ?? choice);
    if (isText(reason)) this.#stopReason = reason;
    // A server that does not stream gives a whole message.
    const isFirst = this.#text === '' && this.#calls.length === 0;
    const delta = property(choice, 'delta') ?? (isFirst ? property(choice, 'message') : undefined);
    return [...this.#takeReasoning(delta), ...this.#takeText(delta), ...this.#takeCalls(property(delta, 'tool_calls'))];
  }

  finish(): ModelAnswer {
    const stopReason = this.#refusal === '' ? toStopReason(this.#stopReason ?? 'stop', this.#calls.length) : 'refusal';
    return collected({ content: this.#content(), stopReason }, this.#usage, this.#responseId);
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

  #takeCalls(pieces: unknown): StreamDelta[] {
    if (!Array.isArray(pieces)) return [];
    return pieces.map((piece: unknown): StreamDelta => {
      const name = property(piece, 'function', 'name');
      const written = property(piece, 'function', 'arguments');
      const call = this.#callOf(piece);
      const named = isText(name) && call.name === '' ? this.#source.declaredName(name) : undefined;
      if (named !== undefined) call.name = named;
      const argumentsText = textOf(written);
      call.arguments += argumentsText;
      call.extra ??= property(piece, TOOL_CALL_EXTRA);
      const index = this.#calls.indexOf(call);
      return { kind: 'tool_call', index, ...(named === undefined ? {} : { name: named }), argumentsText };
    });
  }

  /**
   * The call that a piece belongs to: that of its id, else that of its index, else the newest. Only a name begins another call.
   * Gemini's endpoint gives every call of an answer the index 0 or none, and some servers give every call the same id.
   */
  #callOf(piece: unknown): Call {
    const given = property(piece, 'id');
    const id = isText(given) ? given : '';
    const index = indexOf(property(piece, 'index'));
    const isNamed = isText(property(piece, 'function', 'name'));
    const ofId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    const ofIndex = index === undefined ? undefined : this.#calls.findLast((call) => call.index === index);
    const known = ofId ?? ofIndex ?? (isNamed ? undefined : this.#calls.at(-1));
    if (known !== undefined && !(isNamed && isOther(known, { id, index }))) {
      if (known.id === '') known.id = id;
      return known;
    }
    const call: Call = { id, index, name: '', arguments: '', extra: undefined };
    this.#calls.push(call);
    return call;
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
        {
          type: 'tool_call',
          index,
          id: call.id || `call_${index}`,
          name: call.name || UNNAMED,
          arguments: call.arguments,
        },
      ]),
    ];
  }

  #thinking(text: string, field: string, encrypted?: string): ThinkingPart {
    const proof = encrypted === undefined ? { signature: field } : { signature: field, encrypted };
    return { type: 'thinking', text, provider: this.#source.provider, ...proof };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Text in a few servers. */
function indexOf(value: unknown): number | undefined {
  return numberOf(isText(value) ? Number(value) : value);
}

/** Whether a piece with a name begins another call than the one that its id or index found. */
function isOther(call: Call, { id, index }: Pick<Call, 'id' | 'index'>): boolean {
  if (call.name === '') return false;
  if (id !== '' && call.id !== '' && id !== call.id) return true;
  if (index !== undefined && call.index !== undefined && index !== call.index) return true;
  // Without an id of its own only a call that is complete tells that this is the next one.
  return id === '' && parseJson(call.arguments) !== undefined;
}

/** Several servers say `stop` where they call tools. A call that is announced and does not come is asked for by the turn. */
function toStopReason(reason: string, toolCalls: number): StopReason {
  const named = stopReasonNamed(reason);
  return named === 'end' && toolCalls > 0 ? 'tool_calls' : named;
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
