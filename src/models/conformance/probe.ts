import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';
import { ModelCallError, type ModelAnswer, type ModelClient, type StreamDelta } from '../model-client.ts';

/** An answer with what could be seen while it came. */
export interface ProbedAnswer extends ModelAnswer {
  readonly deltas: readonly StreamDelta[];
  /** Milliseconds until the first delta; until the end without one. */
  readonly firstDeltaMilliseconds: number;
}

export interface ProbeRequest {
  readonly messages: readonly ViewMessage[];
  readonly system?: string;
  /** Default: none. */
  readonly tools?: View['tools'];
  /** Tokens. Default: 512, which leaves room for thinking before a short answer. */
  readonly maximumOutput?: number;
}

const MAXIMUM_OUTPUT = 512;

/** Asks one model of one server, and keeps what it answered for checks that look at all answers. */
export class Probe {
  readonly model: string;
  readonly #client: ModelClient;
  readonly #signal: AbortSignal;
  readonly #answers: ProbedAnswer[] = [];

  constructor(options: { readonly client: ModelClient; readonly model: string; readonly signal: AbortSignal }) {
    this.model = options.model;
    this.#client = options.client;
    this.#signal = options.signal;
  }

  get answers(): readonly ProbedAnswer[] {
    return this.#answers;
  }

  /** @throws ModelCallError as every call; AbortError when the time for all checks is over. */
  async ask(request: ProbeRequest): Promise<ProbedAnswer> {
    const started = performance.now();
    const deltas: StreamDelta[] = [];
    let first: number | undefined;
    const answer = await this.#client.answer(
      {
        model: this.model,
        view: probeView(request),
        maximumOutput: request.maximumOutput ?? MAXIMUM_OUTPUT,
        cacheKey: 'holdfast-conformance',
      },
      {
        // One of its own for each call: the SDKs leave their listeners on what they are given.
        signal: AbortSignal.any([this.#signal]),
        onDelta: (delta) => {
          first ??= performance.now() - started;
          deltas.push(delta);
        },
      },
    );
    const probed = { ...answer, deltas, firstDeltaMilliseconds: first ?? performance.now() - started };
    this.#answers.push(probed);
    return probed;
  }
}

export function probeView({ messages, system = 'Answer briefly.', tools = [] }: ProbeRequest): View {
  return { system, tools, messages };
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
  const results = callsOf(answer).map(({ id, name }) => ({
    id,
    name,
    isError: false,
    content: [{ type: 'text' as const, text: result }],
  }));
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
