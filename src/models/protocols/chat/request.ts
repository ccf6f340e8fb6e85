import type OpenAI from 'openai';
import type { ThinkingPart } from '../../../context/log/content.ts';
import type { ChatDialect } from './dialect.ts';
import { parseJson } from '../json.ts';
import type { ModelRequest } from '../../model-client.ts';
import { chatFields } from '../request-fields.ts';
import { dataUrl, fileFields, sendableRequest } from '../sendable-view.ts';
import type { SendableMessage, SendablePart, SendableResult } from '../sendable-view.ts';
import { strictSchema } from '../tool-schema.ts';

/** Several servers refuse or mishandle a tool message without text. */
const NO_OUTPUT = '(no output)';

/** Carriers of what compatible servers want back: see `chat-answer.ts`. */
export const TOOL_CALL_EXTRA = 'extra_content';
export const REASONING_DETAILS = 'reasoning_details';

/** A provider that changed its protocol left other proofs in older thinking parts. */
const REASONING_FIELD = /^reasoning(?:_[a-z]+)?$/;

/** A request of Chat Completions. Keys that change from call to call stand last: see `anthropic-request.ts`. */
export function chatRequest(
  request: ModelRequest,
  options: { readonly provider: string; readonly dialect: ChatDialect; readonly thinking: boolean },
): OpenAI.ChatCompletionCreateParamsStreaming {
  const { dialect, ...rules } = options;
  const { callIds, openAIFields } = dialect;
  const sendable = sendableRequest(request.view, { ...rules, callIds, pdf: openAIFields });
  const { system, messages } = sendable;
  const tools = sendable.tools.map(({ name, description, schema }): OpenAI.ChatCompletionTool => {
    const strict = openAIFields ? strictSchema(schema) : null;
    const parameters = strict ?? schema;
    return { type: 'function', function: { name, description, parameters, ...(strict && { strict: true }) } };
  });
  return {
    model: request.model,
    stream: true,
    stream_options: { include_usage: true },
    ...chatFields(request),
    ...(dialect.refusesMiddleOut ? { transforms: [] } : {}),
    ...(openAIFields ? { prompt_cache_key: request.cacheKey } : {}),
    ...(tools.length === 0 ? {} : { tools }),
    messages: [
      ...(system === '' ? [] : [{ role: instructionsRole(request.model, dialect), content: system }]),
      ...toMessages(messages, dialect),
    ],
    [openAIFields ? 'max_completion_tokens' : 'max_tokens']: request.maximumOutput,
  };
}

/** OpenAI's models before o1 were made for `system`. */
const BEFORE_DEVELOPER_ROLE = /^(?:ft:)?(?:gpt-[34]|chatgpt-4)/;

function instructionsRole(model: string, dialect: ChatDialect): ChatDialect['instructionsRole'] {
  return BEFORE_DEVELOPER_ROLE.test(model) ? 'system' : dialect.instructionsRole;
}

function toMessages(messages: readonly SendableMessage[], dialect: ChatDialect): OpenAI.ChatCompletionMessageParam[] {
  const sent: OpenAI.ChatCompletionMessageParam[] = [];
  for (const [position, message] of messages.entries()) {
    switch (message.role) {
      case 'assistant': {
        const next = messages[position + 1];
        sent.push(...assistantMessages(message, next?.role === 'tool_results' ? next.results : []));
        break;
      }
      case 'user': {
        const previous = messages[position - 1];
        const images = previous?.role === 'tool_results' ? imagesOf(previous.results) : [];
        appendUser(sent, [...images, ...message.content], dialect);
        break;
      }
      case 'tool_results':
        // Those of the calls before were sent with them.
        // A tool message holds text only; its images follow in the user message after the group.
        if (messages[position + 1]?.role !== 'user') appendUser(sent, imagesOf(message.results), dialect);
        break;
    }
  }
  return sent;
}

function appendUser(
  sent: OpenAI.ChatCompletionMessageParam[],
  content: readonly SendablePart[],
  dialect: ChatDialect,
): void {
  if (content.length === 0) return;
  if (dialect.assistantBetweenToolAndUser && sent.at(-1)?.role === 'tool') {
    sent.push({ role: 'assistant', content: 'I have the results.' });
  }
  // Text alone goes as one string: many compatible servers accept nothing else.
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length === content.length) sent.push({ role: 'user', content: texts.join('\n\n') });
  else sent.push({ role: 'user', content: content.map(toContentPart) });
}

function toContentPart(part: SendablePart): OpenAI.ChatCompletionContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(part) } };
    case 'file':
      return { type: 'file', file: fileFields(part) };
  }
}

function toolMessage(result: SendableResult): OpenAI.ChatCompletionToolMessageParam {
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const media = result.content.length - texts.length;
  if (media > 0) texts.push(`(${media} more part${media === 1 ? '' : 's'} of this result in the next user message)`);
  return { role: 'tool', tool_call_id: result.id, content: texts.join('\n') || NO_OUTPUT };
}

function imagesOf(results: readonly SendableResult[]): SendablePart[] {
  return results.flatMap((result): SendablePart[] => {
    const media = result.content.filter((part) => part.type !== 'text');
    return media.length === 0 ? [] : [{ type: 'text', text: `From the result of ${result.name}:` }, ...media];
  });
}

/** Compatible servers want their reasoning back in the field that they sent it in. */
type AssistantMessage = OpenAI.ChatCompletionAssistantMessageParam & Record<string, unknown>;

/** OpenAI refuses a message with more tool calls (Tools4AI#16, gptscript#547): an answer of another vendor's model may hold more. */
const MOST_CALLS_OF_A_MESSAGE = 128;

/** An answer with the results of its calls; one with too many calls goes as several messages, each before its own results. */
function assistantMessages(
  message: Extract<SendableMessage, { role: 'assistant' }>,
  results: readonly SendableResult[],
): OpenAI.ChatCompletionMessageParam[] {
  const whole = assistantMessage(message);
  const calls = whole.tool_calls ?? [];
  if (calls.length <= MOST_CALLS_OF_A_MESSAGE) return [whole, ...results.map(toolMessage)];
  const sent: OpenAI.ChatCompletionMessageParam[] = [];
  for (let from = 0; from < calls.length; from += MOST_CALLS_OF_A_MESSAGE) {
    const some = calls.slice(from, from + MOST_CALLS_OF_A_MESSAGE);
    const ids = new Set(some.map(({ id }) => id));
    sent.push(from === 0 ? { ...whole, tool_calls: some } : { role: 'assistant', content: null, tool_calls: some });
    sent.push(...results.filter(({ id }) => ids.has(id)).map(toolMessage));
  }
  return sent;
}

function assistantMessage(message: Extract<SendableMessage, { role: 'assistant' }>): AssistantMessage {
  const texts: string[] = [];
  const calls: (OpenAI.ChatCompletionMessageFunctionToolCall & Record<string, unknown>)[] = [];
  const reasoning: Record<string, unknown> = {};
  let callExtra: unknown;
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
        texts.push(part.text);
        break;
      case 'thinking':
        if (part.signature === TOOL_CALL_EXTRA) callExtra = decoded(part);
        else if (part.signature !== undefined && REASONING_FIELD.test(part.signature)) {
          reasoning[part.signature] = decoded(part);
        }
        break;
      case 'tool_call':
        calls.push({
          id: part.id,
          type: 'function',
          function: { name: part.name, arguments: part.arguments },
          ...(callExtra === undefined ? {} : { [TOOL_CALL_EXTRA]: callExtra }),
        });
        callExtra = undefined;
        break;
    }
  }
  const text = texts.join('\n');
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...reasoning,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** What `chat-answer.ts` stored: plain text, or a structure as JSON. */
function decoded(part: ThinkingPart): unknown {
  return part.encrypted === undefined ? part.text : parseJson(part.encrypted);
}
