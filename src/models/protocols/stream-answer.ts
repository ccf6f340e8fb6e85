import { setTimeout as delay } from 'node:timers/promises';
import { withBaseUrlAdvice } from '../catalogue/base-url-advice.ts';
import { AbortError, BrokenAnswerError, RefusedInBody, toModelCallError } from '../call-failure.ts';
import type { AnswerCollector } from './answer-collector.ts';
import { givingWay } from './give-way.ts';
import { isRecord, parseJson, property } from './json.ts';
import { serverEvents } from './server-events.ts';
import type { ModelAnswer, RequestSize, StreamOptions } from '../model-client.ts';
import type { ProviderDefinition } from '../provider.ts';
import { untilAborted } from './until-aborted.ts';

/** After the reason of the end only counts follow, at once: a server that stays silent for this long has said all. Milliseconds. */
const SILENCE_AFTER_END = 5_000;

/** What the SDKs hand out for a streaming call. */
export interface OpenStream {
  readonly data: AsyncIterable<unknown>;
  readonly response: Response;
}

interface StreamingCall {
  readonly provider: ProviderDefinition;
  readonly open: () => Promise<OpenStream>;
  readonly collector: AnswerCollector;
  readonly options: StreamOptions;
  /** Of the request. */
  readonly size: RequestSize | undefined;
}

/**
 * Reads one streamed answer to its end, which the protocol tells and not the connection.
 * @throws ModelCallError, classified.
 * @throws AbortError when the signal was aborted, whatever else went wrong meanwhile.
 */
export async function streamAnswer(call: StreamingCall): Promise<ModelAnswer> {
  const { provider, open, collector, options, size } = call;
  try {
    await collect(call, await open());
    // The SDK of Bedrock ends an aborted stream silently, as if it were complete.
    if (options.signal.aborted) throw new AbortError('The model call was aborted.');
    if (collector.state === 'open') throw new BrokenAnswerError('the stream ended in the middle of the answer');
    return withoutUnwrittenCall(collector.finish());
  } catch (error) {
    if (options.signal.aborted) throw new AbortError('The model call was aborted.');
    throw withBaseUrlAdvice(toModelCallError(error, provider.name, size), provider);
  }
}

async function collect(call: StreamingCall, { data, response }: OpenStream): Promise<void> {
  const type = response.headers.get('content-type') ?? '';
  if (/json|html|xml/i.test(type) && !/event-stream|ndjson/i.test(type)) return takeBody(call, response);
  // Bedrock frames its events in its own way.
  if (response.body === null || type.includes('amazon.eventstream')) return takeEvents(call, data);
  const reader = response.body.getReader();
  try {
    await takeEvents(call, serverEvents(reader));
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Proxies and some servers report an error as JSON or HTML with HTTP 200 (oobabooga/textgen#7257); some never stream. */
async function takeBody({ collector, options }: StreamingCall, response: Response): Promise<void> {
  const body = await response.text();
  const answer = parseJson(body);
  if (isRecord(answer) && answer['error'] == null) for (const delta of collector.take(answer)) options.onDelta(delta);
  if (collector.state === 'open') throw new RefusedInBody(body, response);
}

async function takeEvents(call: StreamingCall, source: AsyncIterable<unknown>): Promise<void> {
  const { collector, options } = call;
  const events = source[Symbol.asyncIterator]();
  // Events that came together are read without a pause between them.
  const afterEvent = givingWay();
  try {
    while (collector.state !== 'over') {
      const next = await nextEvent(call, events);
      if (next === undefined || next.done === true) break;
      const failure = property(next.value, 'error');
      if (failure != null) throw new RefusedInBody(failure);
      for (const delta of collector.take(next.value)) options.onDelta(delta);
      await afterEvent();
    }
  } catch (error) {
    // What came whole is not bought again because of what broke behind it.
    if (collector.state === 'open') throw error;
  } finally {
    // Not awaited: a read that is under way ends only with the connection.
    events.return?.().catch(() => undefined);
  }
}

/** `undefined`: the answer is whole, and the server silent. */
async function nextEvent(
  { collector, options, provider }: StreamingCall,
  events: AsyncIterator<unknown>,
): Promise<IteratorResult<unknown> | undefined> {
  const next = untilAborted(events.next(), options.signal);
  if (collector.state === 'open') return next;
  const silence = new AbortController();
  const longest = Math.min(SILENCE_AFTER_END, provider.idleTimeoutMilliseconds ?? SILENCE_AFTER_END);
  try {
    return await Promise.race([next, delay(longest, undefined, { signal: silence.signal })]);
  } finally {
    next.catch(() => undefined);
    silence.abort();
  }
}

/**
 * The answer without a tool call that was cut before its first argument. No arguments at all mean
 * `{}` otherwise, so it would be run as something that the model never said. A call that was cut
 * later stays: its arguments are no JSON, so it is not run, and the model is told why.
 */
function withoutUnwrittenCall(answer: ModelAnswer): ModelAnswer {
  const last = answer.content.at(-1);
  const cut = answer.stopReason === 'maximum_output' || answer.stopReason === 'window_full';
  if (!cut || last?.type !== 'tool_call' || last.arguments.trim() !== '') return answer;
  return { ...answer, content: answer.content.slice(0, -1) };
}
