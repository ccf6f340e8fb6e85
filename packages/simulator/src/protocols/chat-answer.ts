import { cutIntoDeltas, type Answer, type Frame, type StopCause, type Usage } from '../core/answer.ts';
import { vendorErrorBody } from '../core/vendor-error.ts';
import { tokensOfDelta, type ProtocolRenderer, type Rendering } from './rendering.ts';

const FINISH_REASONS: Readonly<Record<StopCause, string>> = {
  end: 'stop',
  tool_calls: 'tool_calls',
  maximum_output: 'length',
  refusal: 'stop',
  content_filter: 'content_filter',
  window_full: 'length',
};

/** Chat Completions. A refusal comes in the message's own field with `finish_reason: "stop"`. */
export const chatRenderer: ProtocolRenderer = {
  body: (rendering) => ({
    ...shell(rendering, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: message(rendering.answer),
        logprobs: null,
        finish_reason: FINISH_REASONS[rendering.answer.stop],
      },
    ],
    usage: usageBody(rendering.usage),
  }),
  frames: streamFrames,
  trailer: 'data: [DONE]\n\n',
  errorFrame: (status, text) => ({ data: vendorErrorBody('chat', { status, message: text }), tokens: 0 }),
};

function shell({ request, random }: Rendering, object: string): object {
  return {
    id: `chatcmpl-${random.identifier(29)}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model: request.model.id,
    service_tier: 'default',
    system_fingerprint: 'fp_simulator',
  };
}

function textOf(answer: Answer, kind: 'text' | 'refusal' | 'thinking'): string | null {
  const texts = answer.blocks.flatMap((block) => (block.kind === kind ? [block.text] : []));
  return texts.length === 0 ? null : texts.join('\n');
}

function message(answer: Answer): object {
  const calls = answer.blocks.flatMap((block) =>
    block.kind === 'tool_call'
      ? [{ id: block.id, type: 'function', function: { name: block.name, arguments: block.argumentsText } }]
      : [],
  );
  const base = {
    role: 'assistant',
    content: textOf(answer, 'text'),
    refusal: textOf(answer, 'refusal'),
    ...reasoningOf(answer),
    annotations: [],
  };
  return calls.length === 0 ? base : { ...base, tool_calls: calls };
}

/** OpenAI keeps reasoning to itself in this protocol; compatible servers send it in this field. */
function reasoningOf(answer: Answer): object {
  const reasoning = textOf(answer, 'thinking');
  return reasoning === null ? {} : { reasoning_content: reasoning };
}

const FIELDS = { text: 'content', refusal: 'refusal', thinking: 'reasoning_content' } as const;

function usageBody(usage: Usage): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite5m, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function* streamFrames(rendering: Rendering): Generator<Frame> {
  const base = shell(rendering, 'chat.completion.chunk');
  // With usage asked for, every chunk carries the field: null until the last one.
  const usage = rendering.request.streamUsage ? { usage: null } : {};
  const chunk = (delta: object, tokens = 0, finish: string | null = null): Frame => ({
    data: { ...base, ...usage, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
    tokens,
  });
  yield chunk({ role: 'assistant', content: '', refusal: null });
  let index = 0;
  for (const block of rendering.answer.blocks) {
    if (block.kind === 'tool_call') {
      yield chunk({
        tool_calls: [{ index, id: block.id, type: 'function', function: { name: block.name, arguments: '' } }],
      });
      for (const delta of cutIntoDeltas(block.argumentsText, rendering.deltaCharacters)) {
        yield chunk({ tool_calls: [{ index, function: { arguments: delta } }] }, tokensOfDelta(delta));
      }
      index += 1;
    } else {
      for (const delta of cutIntoDeltas(block.text, rendering.deltaCharacters))
        yield chunk({ [FIELDS[block.kind]]: delta }, tokensOfDelta(delta));
    }
  }
  yield chunk({}, 0, FINISH_REASONS[rendering.answer.stop]);
  if (rendering.request.streamUsage)
    yield { data: { ...base, choices: [], usage: usageBody(rendering.usage) }, tokens: 0 };
}
