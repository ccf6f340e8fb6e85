import type { ServerResponse } from 'node:http';
import { decide } from '../agents/decide.ts';
import { purposeOf } from '../agents/purpose.ts';
import type { Answer, AnswerBlock, Draft, Usage } from '../core/answer.ts';
import { measurePrompt, type PrefixCache } from '../core/prefix-cache.ts';
import { createRandom, type Random, type RequestOccurrences } from '../core/random.ts';
import type { SimulatorRequest } from '../core/request.ts';
import { countUncached, firstTokens, type TokenCounter } from '../core/token-counter.ts';
import { VendorError } from '../core/vendor-error.ts';
import { breakAnswer } from '../faults/broken-answer.ts';
import { parseFaultHeader, type Fault } from '../faults/fault.ts';
import type { FaultStore, Purpose } from '../faults/fault-store.ts';
import type { CompleteOptions } from '../options.ts';
import { CHARACTERS_PER_TOKEN, type ProtocolRenderer } from '../protocols/rendering.ts';
import { deliverBody, deliverStream, hang, resetConnection, sendBody, type Delivery } from './delivery.ts';
import { faultRefusal, windowRefusal } from './refusals.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';

/** All that lives longer than one request: nothing of it tells an agent anything. */
export interface SimulatorState {
  readonly options: CompleteOptions;
  readonly counter: TokenCounter;
  readonly prefixes: PrefixCache;
  readonly occurrences: RequestOccurrences;
  readonly faults: FaultStore;
  readonly log: RequestLog;
}

export interface IncomingCall {
  readonly request: SimulatorRequest;
  readonly rawBody: string;
  readonly body: unknown;
  /** Value of the `x-simulator-fault` header. */
  readonly faultHeader: string | undefined;
  readonly renderer: ProtocolRenderer;
  readonly outgoing: ServerResponse;
}

/** Answers one call of a model: refuses, breaks or delivers what an agent decides. */
export async function answerCall(state: SimulatorState, call: IncomingCall): Promise<void> {
  const { request, outgoing } = call;
  const started = performance.now();
  const purpose = purposeOf(request);
  const fault = chooseFault(state, call, purpose);
  const positions = measurePrompt(request, state.counter);
  const inputTokens = positions.at(-1)?.tokens ?? 0;
  const log = (entry: Partial<LoggedRequest> & { status: number }): void =>
    state.log.add({
      ...describe(call, purpose),
      inputTokens,
      ...(fault === undefined ? {} : { fault: fault.kind }),
      milliseconds: performance.now() - started,
      ...entry,
    });

  const refusal = fault === undefined ? undefined : faultRefusal(fault, request, inputTokens);
  const tooLong = refusal ?? windowRefusal(request, inputTokens);
  if (tooLong !== undefined) {
    log({ status: tooLong.status, ...(refusal === undefined ? { fault: 'window' } : {}) });
    return sendRefusal(outgoing, request, tooLong);
  }
  if (fault?.kind === 'connection_reset' || fault?.kind === 'hang') {
    log({ status: 0 });
    return fault.kind === 'hang' ? hang(outgoing) : resetConnection(outgoing);
  }
  const digest = positions.at(-1)?.digest ?? '';
  const random = createRandom(`${state.options.seed}/${digest}/${state.occurrences.next(digest)}`);
  const answer = makeAnswer(request, purpose, random, inputTokens, fault);
  const usage: Usage = { ...state.prefixes.use(request, positions), output: countOutput(answer, state.counter) };
  log({ status: 200, outputTokens: usage.output, cacheReadTokens: usage.cacheRead });
  await deliver(state, call, { answer, usage, random, fault });
}

function chooseFault(state: SimulatorState, call: IncomingCall, purpose: Purpose): Fault | undefined {
  if (call.faultHeader !== undefined) return parseFaultHeader(call.faultHeader);
  return state.faults.take({ request: call.request, purpose, rawBody: call.rawBody });
}

function describe(
  { request, body }: IncomingCall,
  purpose: Purpose,
): Omit<LoggedRequest, 'number' | 'status' | 'inputTokens' | 'milliseconds'> {
  const { protocol, model, stream, maximumOutput } = request;
  return {
    receivedAt: Date.now(),
    protocol,
    model: model.id,
    window: model.window,
    purpose,
    stream,
    maximumOutput,
    cacheReadTokens: 0,
    outputTokens: 0,
    body,
  };
}

function makeAnswer(
  request: SimulatorRequest,
  purpose: Purpose,
  random: Random,
  inputTokens: number,
  fault: Fault | undefined,
): Answer {
  const whole = withIds(decide(request, purpose, random), request, random);
  const room = Math.max(1, Math.min(request.maximumOutput, request.model.window - inputTokens));
  const broken =
    fault === undefined ? whole : breakAnswer(whole, fault.kind, callId(request, random), request.maximumOutput);
  return limitAnswer(broken, room);
}

function callId(request: SimulatorRequest, random: Random): string {
  return request.protocol === 'anthropic' ? `toolu_01${random.identifier(22)}` : `call_${random.identifier(24)}`;
}

function withIds(draft: Draft, request: SimulatorRequest, random: Random): Answer {
  const text: AnswerBlock[] = draft.text === '' ? [] : [{ kind: 'text', text: draft.text }];
  const calls = draft.calls.map((call): AnswerBlock => ({
    kind: 'tool_call',
    id: callId(request, random),
    name: call.name,
    argumentsText: JSON.stringify(call.arguments),
  }));
  return {
    blocks: [...thinking(draft, request, random), ...text, ...calls],
    stop: calls.length > 0 ? 'tool_calls' : 'end',
  };
}

/** What a thinking model thinks: which answer it is about to give. */
function thinking(draft: Draft, { model }: SimulatorRequest, random: Random): AnswerBlock[] {
  if (!model.thinks) return [];
  const names = draft.calls.map(({ name }) => name).join(' and ');
  const text = `The user wants ${names === '' ? 'an answer' : `a call of ${names}`}, and I have what it takes for it.`;
  return [{ kind: 'thinking', text, proof: random.identifier(64) }];
}

function blockText(block: AnswerBlock): string {
  return block.kind === 'tool_call' ? block.argumentsText : block.text;
}

/** Cuts an answer at a number of tokens, in the middle of a word or of an argument if need be. */
function limitAnswer(answer: Answer, limit: number): Answer {
  // No token is shorter than a byte, so few characters need no count.
  if (answer.blocks.reduce((sum, block) => sum + blockText(block).length * 3, 0) <= limit) return answer;
  const kept: AnswerBlock[] = [];
  let left = limit;
  for (const block of answer.blocks) {
    const text = blockText(block);
    const shown = firstTokens(text, left);
    if (shown.length < text.length) {
      if (shown !== '')
        kept.push(block.kind === 'tool_call' ? { ...block, argumentsText: shown } : { ...block, text: shown });
      return { blocks: kept, stop: 'maximum_output' };
    }
    kept.push(block);
    left -= countUncached(shown);
  }
  return answer;
}

function countOutput(answer: Answer, counter: TokenCounter): number {
  return answer.blocks.reduce(
    (sum, block) =>
      sum + counter.count(blockText(block)) + (block.kind === 'tool_call' ? counter.count(block.name) : 0),
    0,
  );
}

function requestIdHeader(request: SimulatorRequest, identifier: string): Record<string, string> {
  return request.protocol === 'anthropic'
    ? { 'request-id': `req_01${identifier}` }
    : { 'x-request-id': `req_${identifier}` };
}

export function sendRefusal(outgoing: ServerResponse, request: SimulatorRequest | undefined, error: VendorError): void {
  const identifier = createRandom(`${performance.now()}`).identifier(22);
  const id = request === undefined ? {} : requestIdHeader(request, identifier);
  sendBody(outgoing, error.status, error.body, { ...id, ...error.headers });
}

interface Decided {
  readonly answer: Answer;
  readonly usage: Usage;
  readonly random: Random;
  readonly fault: Fault | undefined;
}

/** Streams of a paced model come in about this many pieces per second, as real ones do. */
const DELTAS_PER_SECOND = 25;

async function deliver(
  { options, faults }: SimulatorState,
  { request, renderer, outgoing }: IncomingCall,
  decided: Decided,
): Promise<void> {
  const { fault } = decided;
  const extra = fault?.kind === 'delay' ? fault.milliseconds : 0;
  const delivery: Delivery = {
    headers: requestIdHeader(request, decided.random.identifier(22)),
    pace: { latency: options.latency + extra, tokensPerSecond: options.tokensPerSecond },
    release: async (gone) => (fault?.kind === 'hold' ? faults.removed(fault, gone) : undefined),
    fault,
    errorFrame: renderer.errorFrame,
  };
  const paced = Math.ceil((options.tokensPerSecond / DELTAS_PER_SECOND) * CHARACTERS_PER_TOKEN);
  const deltaCharacters = options.tokensPerSecond === 0 ? 256 : Math.min(256, Math.max(CHARACTERS_PER_TOKEN, paced));
  const rendering = { request, answer: decided.answer, usage: decided.usage, random: decided.random, deltaCharacters };
  if (request.stream) return deliverStream(outgoing, delivery, renderer.frames(rendering), renderer.trailer);
  return deliverBody(outgoing, delivery, renderer.body(rendering), decided.usage.output);
}
