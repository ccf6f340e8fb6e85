import { cutIntoDeltas, type AnswerBlock, type Frame, type StopCause, type Usage } from '../core/answer.ts';
import { tokensOfDelta, type ProtocolRenderer, type Rendering } from './rendering.ts';

const INCOMPLETE_REASONS: Readonly<Partial<Record<StopCause, string>>> = {
  maximum_output: 'max_output_tokens',
  window_full: 'max_output_tokens',
  content_filter: 'content_filter',
};

/** OpenAI Responses. Text and refusal share one message item; each tool call is an item of its own. */
export const responsesRenderer: ProtocolRenderer = {
  body: (rendering) => {
    const items = outputItems(rendering);
    return {
      ...shell(rendering),
      ...ending(
        rendering,
        items.map(({ item }) => item),
      ),
    };
  },
  frames: streamFrames,
  trailer: '',
  errorFrame: (status, message) => ({
    event: 'error',
    data: {
      type: 'error',
      code: status === 429 ? 'rate_limit_exceeded' : 'server_error',
      message,
      param: null,
      sequence_number: 0,
    },
    tokens: 0,
  }),
};

function shell({ request, random }: Rendering): Readonly<Record<string, unknown>> {
  return {
    id: `resp_${random.identifier(48)}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    model: request.model.id,
    output: [],
    service_tier: 'default',
    usage: null,
    ...request.echo,
  };
}

function ending({ answer, usage }: Rendering, output: readonly object[]): object {
  const reason = INCOMPLETE_REASONS[answer.stop];
  return {
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    completed_at: Math.floor(Date.now() / 1000),
    output,
    usage: usageBody(usage),
  };
}

function usageBody(usage: Usage): object {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite5m },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  };
}

const ID_PREFIXES = { text: 'msg', refusal: 'msg', thinking: 'rs', tool_call: 'fc' } as const;

interface OutputItem {
  readonly block: AnswerBlock;
  readonly id: string;
  readonly item: object;
}

function outputItems({ answer, random }: Rendering): readonly OutputItem[] {
  const status = INCOMPLETE_REASONS[answer.stop] === undefined ? 'completed' : 'incomplete';
  return answer.blocks
    .filter((block) => block.kind === 'tool_call' || block.text !== '')
    .map((block) => {
      const id = `${ID_PREFIXES[block.kind]}_${random.identifier(48)}`;
      if (block.kind === 'thinking') {
        const summary = [{ type: 'summary_text', text: block.text }];
        return { block, id, item: { id, type: 'reasoning', summary, encrypted_content: block.proof } };
      }
      if (block.kind === 'tool_call') {
        return {
          block,
          id,
          item: {
            id,
            type: 'function_call',
            status,
            call_id: block.id,
            name: block.name,
            arguments: block.argumentsText,
          },
        };
      }
      return {
        block,
        id,
        item: { id, type: 'message', status, role: 'assistant', content: [contentPart(block.kind, block.text)] },
      };
    });
}

function contentPart(kind: 'text' | 'refusal', text: string): object {
  return kind === 'text'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'refusal', refusal: text };
}

function* streamFrames(rendering: Rendering): Generator<Frame> {
  let sequence = -1;
  const event = (type: string, data: object, tokens = 0): Frame => {
    sequence += 1;
    return { event: type, data: { type, sequence_number: sequence, ...data }, tokens };
  };
  const base = shell(rendering);
  yield event('response.created', { response: base });
  yield event('response.in_progress', { response: base });
  const items = outputItems(rendering);
  let outputIndex = 0;
  for (const output of items) {
    yield* itemFrames(output, outputIndex, rendering.deltaCharacters, event);
    outputIndex += 1;
  }
  const end = ending(
    rendering,
    items.map(({ item }) => item),
  );
  const type = INCOMPLETE_REASONS[rendering.answer.stop] === undefined ? 'response.completed' : 'response.incomplete';
  yield event(type, { response: { ...base, ...end } });
}

type MakeEvent = (type: string, data: object, tokens?: number) => Frame;

function* itemFrames(
  { block, id, item }: OutputItem,
  outputIndex: number,
  deltaCharacters: number,
  event: MakeEvent,
): Generator<Frame> {
  const place = { item_id: id, output_index: outputIndex };
  if (block.kind === 'thinking') {
    yield* thinkingFrames({ place, item, text: block.text, deltaCharacters }, event);
  } else if (block.kind === 'tool_call') {
    yield event('response.output_item.added', {
      output_index: outputIndex,
      item: { ...item, status: 'in_progress', arguments: '' },
    });
    for (const delta of cutIntoDeltas(block.argumentsText, deltaCharacters)) {
      yield event('response.function_call_arguments.delta', { ...place, delta }, tokensOfDelta(delta));
    }
    yield event('response.function_call_arguments.done', {
      ...place,
      name: block.name,
      arguments: block.argumentsText,
    });
  } else {
    const kind = block.kind === 'text' ? 'output_text' : 'refusal';
    const part = { ...place, content_index: 0 };
    yield event('response.output_item.added', {
      output_index: outputIndex,
      item: { ...item, status: 'in_progress', content: [] },
    });
    yield event('response.content_part.added', { ...part, part: contentPart(block.kind, '') });
    for (const delta of cutIntoDeltas(block.text, deltaCharacters)) {
      yield event(
        `response.${kind}.delta`,
        { ...part, delta, ...(kind === 'output_text' ? { logprobs: [] } : {}) },
        tokensOfDelta(delta),
      );
    }
    const done = kind === 'output_text' ? { text: block.text, logprobs: [] } : { refusal: block.text };
    yield event(`response.${kind}.done`, { ...part, ...done });
    yield event('response.content_part.done', { ...part, part: contentPart(block.kind, block.text) });
  }
  yield event('response.output_item.done', { output_index: outputIndex, item });
}

function* thinkingFrames(
  thinking: { place: { output_index: number }; item: object; text: string; deltaCharacters: number },
  event: MakeEvent,
): Generator<Frame> {
  const { place, item, text, deltaCharacters } = thinking;
  const part = { ...place, summary_index: 0 };
  yield event('response.output_item.added', {
    output_index: place.output_index,
    item: { ...item, summary: [], encrypted_content: null },
  });
  yield event('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
  for (const delta of cutIntoDeltas(text, deltaCharacters)) {
    yield event('response.reasoning_summary_text.delta', { ...part, delta }, tokensOfDelta(delta));
  }
  yield event('response.reasoning_summary_text.done', { ...part, text });
  yield event('response.reasoning_summary_part.done', { ...part, part: { type: 'summary_text', text } });
}
