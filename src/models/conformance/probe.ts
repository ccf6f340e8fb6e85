import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';
import type { ModelCallError, ModelAnswer, ModelClient, StreamDelta } from '../model-client.ts';

/** An answer with what was streamed of it. */
export interface ProbedAnswer extends ModelAnswer {
  readonly deltas: readonly StreamDelta[];
}

export interface ProbeRequest {
  readonly messages: readonly ViewMessage[];
  readonly system?: string;
  /** Default: none. */
  readonly tools?: View['tools'];
  /** Tokens. Default: 512, which leaves room for thinking before a short answer. */
  readonly maximumOutput?: number;
}

/** Asks one model of one server, and keeps what it answered for checks that look at all answers. */
export interface Probe {
  readonly answers: readonly ProbedAnswer[];
  /** @throws ModelCallError as every call; AbortError when the time for all checks is over. */
  ask(request: ProbeRequest): Promise<ProbedAnswer>;
}

export function createProbe(client: ModelClient, model: string, signal: AbortSignal): Probe {
  const answers: ProbedAnswer[] = [];
  return {
    answers,
    async ask({ messages, system = 'Answer briefly.', tools = [], maximumOutput = 512 }) {
      const deltas: StreamDelta[] = [];
      const answer = await client.answer(
        { model, view: { system, tools, messages }, maximumOutput, cacheKey: 'holdfast-conformance' },
        // A signal of its own for each call: the SDKs leave their listeners on what they are given.
        { signal: AbortSignal.any([signal]), onDelta: (delta) => deltas.push(delta) },
      );
      answers.push({ ...answer, deltas });
      return { ...answer, deltas };
    },
  };
}

export function ask(...content: readonly (ContentPart | string)[]): ViewMessage {
  return {
    role: 'user',
    origin: 'user',
    content: content.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
  };
}

export function callsOf(answer: ModelAnswer): readonly ToolCallPart[] {
  return answer.content.filter((part) => part.type === 'tool_call');
}

/** The answer as the next request shows it, with a result for each of its calls. */
export function withResults(answer: ModelAnswer, result: string): ViewMessage[] {
  const content = [{ type: 'text' as const, text: result }];
  const results = callsOf(answer).map(({ id, name }) => ({ id, name, isError: false, content }));
  return [
    { role: 'assistant', content: answer.content, callNumber: 1, turnId: 'conformance' },
    { role: 'tool_results', results },
  ];
}

/** What a call failed with, for a person: the vendor's own words first. */
export function failureWords(error: ModelCallError): string {
  const words = error.vendorMessage.replaceAll(/\s+/g, ' ').trim().slice(0, 160);
  const status = error.status === undefined ? '' : `HTTP ${error.status}: `;
  return `${status}${words === '' ? error.verdict.evidence : words}`;
}
