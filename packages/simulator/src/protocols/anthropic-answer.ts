import { cutIntoDeltas, type AnswerBlock, type Frame, type StopCause, type Usage } from '../core/answer.ts';
import { vendorErrorBody } from '../core/vendor-error.ts';
import { tokensOfDelta, type ProtocolRenderer, type Rendering } from './rendering.ts';

const STOP_REASONS: Readonly<Record<StopCause, string>> = {
  end: 'end_turn',
  tool_calls: 'tool_use',
  maximum_output: 'max_tokens',
  refusal: 'refusal',
  content_filter: 'refusal',
  window_full: 'model_context_window_exceeded',
};

/** Anthropic Messages. A refusal or a filter ends the answer with `stop_reason: "refusal"` and what was said so far. */
export const anthropicRenderer: ProtocolRenderer = {
  body: (rendering) => ({
    ...messageShell(rendering),
    content: visibleBlocks(rendering).map((block) => contentBlock(block)),
    stop_reason: STOP_REASONS[rendering.answer.stop],
    stop_details: stopDetails(rendering),
    usage: usageBody(rendering.usage, rendering.usage.output),
  }),
  frames: streamFrames,
  trailer: '',
  errorFrame: (status, message) => ({
    event: 'error',
    data: vendorErrorBody('anthropic', { status, message }),
    tokens: 0,
  }),
};

function messageShell({ request, random }: Rendering): object {
  return {
    id: `msg_01${random.identifier(22)}`,
    type: 'message',
    role: 'assistant',
    model: request.model.id,
    content: [],
    container: null,
    diagnostics: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
  };
}

/** Anthropic has no refusal block: the words of a refusal are text. */
function visibleBlocks({ answer }: Rendering): readonly AnswerBlock[] {
  return answer.blocks.filter((block) => block.kind === 'tool_call' || block.text !== '');
}

function stopDetails({ answer }: Rendering): object | null {
  if (answer.stop !== 'refusal' && answer.stop !== 'content_filter') return null;
  return { type: 'refusal', category: null, explanation: null };
}

function contentBlock(block: AnswerBlock): object {
  if (block.kind === 'thinking') return { type: 'thinking', thinking: block.text, signature: block.proof };
  if (block.kind !== 'tool_call') return { type: 'text', text: block.text, citations: null };
  return {
    type: 'tool_use',
    id: block.id,
    name: block.name,
    input: parsedInput(block.argumentsText),
    caller: { type: 'direct' },
  };
}

/** A body that is not streamed cannot carry broken JSON: what cannot be read becomes an empty input. */
function parsedInput(argumentsText: string): unknown {
  try {
    return JSON.parse(argumentsText) as unknown;
  } catch {
    return {};
  }
}

function usageBody(usage: Usage, output: number): object {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite5m - usage.cacheWrite1h,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite5m, ephemeral_1h_input_tokens: usage.cacheWrite1h },
    output_tokens: output,
    output_tokens_details: null,
    inference_geo: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  };
}

function* streamFrames(rendering: Rendering): Generator<Frame> {
  const { answer, usage } = rendering;
  yield frame('message_start', { message: { ...messageShell(rendering), usage: usageBody(usage, 1) } });
  yield frame('ping', {});
  let index = 0;
  for (const block of visibleBlocks(rendering)) {
    yield* blockFrames(block, index, rendering.deltaCharacters);
    index += 1;
  }
  yield frame('message_delta', {
    delta: {
      stop_reason: STOP_REASONS[answer.stop],
      stop_sequence: null,
      stop_details: stopDetails(rendering),
      container: null,
    },
    usage: usageBody(usage, usage.output),
  });
  yield frame('message_stop', {});
}

function* blockFrames(block: AnswerBlock, index: number, deltaCharacters: number): Generator<Frame> {
  const isCall = block.kind === 'tool_call';
  const isThinking = block.kind === 'thinking';
  const start = isCall ? { ...contentBlock(block), input: {} } : emptyBlock(isThinking);
  yield frame('content_block_start', { index, content_block: start });
  for (const delta of cutIntoDeltas(isCall ? block.argumentsText : block.text, deltaCharacters)) {
    const words = isThinking ? { type: 'thinking_delta', thinking: delta } : { type: 'text_delta', text: delta };
    const change = isCall ? { type: 'input_json_delta', partial_json: delta } : words;
    yield frame('content_block_delta', { index, delta: change }, tokensOfDelta(delta));
  }
  if (isThinking)
    yield frame('content_block_delta', { index, delta: { type: 'signature_delta', signature: block.proof } });
  yield frame('content_block_stop', { index });
}

function emptyBlock(isThinking: boolean): object {
  return isThinking ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '', citations: null };
}

function frame(type: string, data: object, tokens = 0): Frame {
  return { event: type, data: { type, ...data }, tokens };
}
