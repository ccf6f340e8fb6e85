import { z } from 'zod';
import { imageTokens } from '../core/images.ts';
import type { Block, Message, Piece, SimulatorRequest, ToolChoice } from '../core/request.ts';
import { findModel, type SimulatedModel } from '../core/simulated-model.ts';
import { invalidRequest, vendorError, type VendorError } from '../core/vendor-error.ts';
import { firstIssue } from './anthropic-request.ts';
import { checkChatPairs } from './tool-pairs.ts';

const Part = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
  z.looseObject({ type: z.enum(['file', 'input_audio']) }),
]);
type Part = z.output<typeof Part>;
const Content = z.union([z.string(), z.array(Part)]);
type Content = z.output<typeof Content>;
const ToolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const ChatMessage = z.union([
  z.looseObject({ role: z.enum(['system', 'developer', 'user']), content: Content }),
  z.looseObject({
    role: z.literal('assistant'),
    content: Content.nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).max(128).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content: Content }),
]);
type ChatMessage = z.output<typeof ChatMessage>;
const Tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string().optional(),
    parameters: z.looseObject({}).optional(),
  }),
});
const Body = z.looseObject({
  model: z.string(),
  messages: z.array(ChatMessage).min(1),
  tools: z.array(Tool).max(128).nullish(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.looseObject({ function: z.looseObject({ name: z.string() }) })])
    .nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
});
type Body = z.output<typeof Body>;

/** Tokens of framing around each message. */
const FRAMING_TOKENS = 4;

/**
 * Reads the body of `POST /v1/chat/completions`.
 * @throws VendorError as OpenAI would refuse it
 */
export function parseChatRequest(json: unknown): SimulatorRequest {
  const parsed = Body.safeParse(json);
  if (!parsed.success)
    throw invalidRequest('chat', firstIssue(parsed.error), parsed.error.issues[0]?.path.join('.') ?? null);
  const body = parsed.data;
  const model = findModel(body.model);
  if (model === undefined) throw unknownModel('chat', body.model);
  const maximum = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  checkOutputLimit('chat', maximum, model, body.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens');
  const messages = body.messages.flatMap((message) => readMessage(message) ?? []);
  checkChatPairs(messages);
  return {
    protocol: 'chat',
    model,
    system: body.messages
      .flatMap((message) =>
        message.role === 'system' || message.role === 'developer' ? [contentText(message.content)] : [],
      )
      .join('\n'),
    tools: (body.tools ?? []).map((tool) => ({
      name: tool.function.name,
      description: tool.function.description ?? '',
      inputSchema: tool.function.parameters ?? {},
    })),
    messages,
    toolChoice: readToolChoice(body),
    maximumOutput: maximum ?? model.maximumOutput,
    stream: body.stream ?? false,
    streamUsage: body.stream_options?.include_usage ?? false,
    pieces: listPieces(body),
    echo: {},
  };
}

export function unknownModel(protocol: 'chat' | 'responses', id: string): VendorError {
  return vendorError(protocol, {
    status: 404,
    message: `The model \`${id}\` does not exist or you do not have access to it.`,
    code: 'model_not_found',
  });
}

export function checkOutputLimit(
  protocol: 'chat' | 'responses',
  maximum: number | undefined,
  model: SimulatedModel,
  parameter: string,
): void {
  if (maximum === undefined || maximum <= model.maximumOutput) return;
  throw vendorError(protocol, {
    status: 400,
    message: `${parameter} is too large: ${maximum}. This model supports at most ${model.maximumOutput} completion tokens, whereas you provided ${maximum}.`,
    parameter,
    code: 'invalid_value',
  });
}

function readToolChoice(body: Body): ToolChoice {
  const choice = body.tool_choice ?? 'auto';
  if (typeof choice === 'object') return { kind: 'tool', name: choice.function.name };
  return { kind: choice === 'required' ? 'any' : choice };
}

function contentText(content: Content | null | undefined): string {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function readMessage(message: ChatMessage): Message | undefined {
  switch (message.role) {
    case 'system':
    case 'developer':
      return undefined;
    case 'user':
      return { role: 'user', blocks: contentBlocks(message.content) };
    case 'tool':
      return {
        role: 'user',
        blocks: [
          { kind: 'tool_result', callId: message.tool_call_id, isError: false, text: contentText(message.content) },
        ],
      };
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map((call): Block => ({
        kind: 'tool_call',
        id: call.id,
        name: call.function.name,
        argumentsText: call.function.arguments,
      }));
      return { role: 'assistant', blocks: [...contentBlocks(message.content), ...calls] };
    }
  }
}

function contentBlocks(content: Content | null | undefined): Block[] {
  if (content == null || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return content.map((part): Block => (part.type === 'text' ? { kind: 'text', text: part.text } : { kind: 'other' }));
}

function listPieces(body: Body): readonly Piece[] {
  const tools = (body.tools ?? []).map((tool): Piece => ({
    text: JSON.stringify(tool.function),
    extraTokens: FRAMING_TOKENS,
  }));
  const messages = body.messages.map((message): Piece => {
    const calls = message.role === 'assistant' ? JSON.stringify(message.tool_calls ?? []) : '';
    const answers = message.role === 'tool' ? message.tool_call_id : '';
    const images = typeof message.content === 'object' ? mediaTokens(message.content ?? []) : 0;
    return {
      text: `${message.role}\n${answers}${contentText(message.content)}${calls === '[]' ? '' : calls}`,
      extraTokens: FRAMING_TOKENS + images,
    };
  });
  return [...tools, ...messages];
}

function mediaTokens(parts: readonly Part[]): number {
  return parts.reduce(
    (sum, part) =>
      part.type === 'image_url' ? sum + imageTokens(part.image_url.url.replace(/^data:[^,]*,/, '')) : sum,
    0,
  );
}
