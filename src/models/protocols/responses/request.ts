import type OpenAI from 'openai';
import { VENDOR_BLOCK } from '../../../context/log/content.ts';
import type { ThinkingPart } from '../../../context/log/content.ts';
import { isRecord, parseJson } from '../json.ts';
import type { ModelRequest } from '../../model-client.ts';
import { responsesFields } from '../request-fields.ts';
import { dataUrl, fileFields, sendableRequest, type SendableMessage, type SendablePart } from '../sendable-view.ts';
import { RESPONSES_CALL_IDS } from '../tool-names.ts';
import { strictSchema } from '../tool-schema.ts';

type Item = OpenAI.Responses.ResponseInputItem;

/** The API refuses a smaller maximum. Tokens. */
const SMALLEST_MAXIMUM_OUTPUT = 16;

/** Models without reasoning refuse the wish for its encrypted form. */
const WITHOUT_REASONING = /^(?:gpt-[34]|chatgpt)/;

/**
 * A request of the Responses API that leaves nothing with OpenAI: `store: false`, reasoning comes
 * and goes encrypted, and nothing is dropped silently (`truncation: 'disabled'`). Keys that change
 * from call to call stand last: see `anthropic-request.ts`.
 */
export function responsesRequest(
  request: ModelRequest,
  options: { readonly provider: string; readonly thinking: boolean },
): OpenAI.Responses.ResponseCreateParamsStreaming {
  const sendable = sendableRequest(request.view, { ...options, callIds: RESPONSES_CALL_IDS, pdf: true });
  const { system, messages } = sendable;
  const tools = sendable.tools.map(({ name, description, schema }): OpenAI.Responses.FunctionTool => {
    // The default is strict, which refuses schemas with optional properties.
    const strict = strictSchema(schema);
    return { type: 'function', name, description, parameters: strict ?? schema, strict: strict !== null };
  });
  return {
    model: request.model,
    stream: true,
    store: false,
    truncation: 'disabled',
    prompt_cache_key: request.cacheKey,
    ...responsesFields(request, options.thinking),
    ...(WITHOUT_REASONING.test(request.model) ? {} : { include: ['reasoning.encrypted_content'] }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(system === '' ? {} : { instructions: system }),
    input: messages.flatMap(toItems),
    max_output_tokens: Math.max(SMALLEST_MAXIMUM_OUTPUT, request.maximumOutput),
  };
}

function toItems(message: SendableMessage): Item[] {
  switch (message.role) {
    case 'user':
      return [{ type: 'message', role: 'user', content: message.content.map(toInput) }];
    case 'assistant':
      return assistantItems(message);
    case 'tool_results':
      return message.results.map((result) => ({
        type: 'function_call_output',
        call_id: result.id,
        output: result.content.every((part) => part.type === 'text')
          ? result.content.map((part) => part.text).join('\n')
          : result.content.map(toInput),
      }));
  }
}

function toInput(
  part: SendablePart,
): OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage | OpenAI.Responses.ResponseInputFile {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: dataUrl(part) };
    case 'file':
      return { type: 'input_file', ...fileFields(part) };
  }
}

function assistantItems(message: Extract<SendableMessage, { role: 'assistant' }>): Item[] {
  let phase: 'commentary' | 'final_answer' | undefined;
  return message.content.flatMap((part): Item[] => {
    switch (part.type) {
      case 'text': {
        const item: Item = {
          type: 'message',
          role: 'assistant',
          content: part.text,
          ...(phase === undefined ? {} : { phase }),
        };
        phase = undefined;
        return [item];
      }
      case 'thinking': {
        if (part.signature === VENDOR_BLOCK) {
          const block = parseJson(part.encrypted ?? '');
          return isItem(block) ? [block] : [];
        }
        const stored = storedItem(part);
        if (stored.phase !== undefined) phase = stored.phase;
        return stored.reasoning === undefined ? [] : [stored.reasoning];
      }
      case 'tool_call':
        return [{ type: 'function_call', call_id: part.id, name: part.name, arguments: part.arguments }];
    }
  });
}

/** As OpenAI gave it, of whatever type. */
function isItem(value: unknown): value is Item {
  return isRecord(value) && typeof value['type'] === 'string';
}

/**
 * What `responses-answer.ts` stored in a thinking part: a reasoning item, or the phase of the text
 * after it. A reasoning item without its encrypted form cannot be found again, since nothing is stored.
 */
function storedItem(part: ThinkingPart): {
  readonly reasoning?: OpenAI.Responses.ResponseReasoningItem;
  readonly phase?: 'commentary' | 'final_answer';
} {
  const stored = part.signature === undefined ? undefined : parseJson(part.signature);
  if (!isRecord(stored)) return {};
  const { id, summary, content, phase } = stored;
  if (phase === 'commentary' || phase === 'final_answer') return { phase };
  if (typeof id !== 'string' || (part.encrypted === undefined && content === undefined)) return {};
  return {
    reasoning: {
      type: 'reasoning',
      id,
      summary: texts(summary).map((text) => ({ type: 'summary_text', text })),
      ...(content === undefined
        ? {}
        : { content: texts(content).map((text) => ({ type: 'reasoning_text' as const, text })) }),
      ...(part.encrypted === undefined ? {} : { encrypted_content: part.encrypted }),
    },
  };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
