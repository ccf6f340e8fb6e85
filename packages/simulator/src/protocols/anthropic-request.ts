import { z } from 'zod';
import { imageTokens } from '../core/images.ts';
import type { Block, Message, Piece, SimulatorRequest, ToolChoice } from '../core/request.ts';
import { findModel, type SimulatedModel } from '../core/simulated-model.ts';
import { invalidRequest, vendorError } from '../core/vendor-error.ts';
import { checkAnthropicPairs } from './tool-pairs.ts';

const CacheControl = z.looseObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() });
const Marked = { cache_control: CacheControl.nullish() };
const Source = z.looseObject({ type: z.string(), data: z.string().optional() });
const TextBlock = z.looseObject({ type: z.literal('text'), text: z.string(), ...Marked });
const ImageBlock = z.looseObject({ type: z.enum(['image', 'document']), source: Source, ...Marked });
const ResultContent = z.union([z.string(), z.array(z.union([TextBlock, ImageBlock]))]);
const ContentBlock = z.union([
  TextBlock,
  ImageBlock,
  z.looseObject({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    ...Marked,
  }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    is_error: z.boolean().nullish(),
    content: ResultContent.nullish(),
    ...Marked,
  }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
]);
type ContentBlock = z.output<typeof ContentBlock>;
type ResultContent = z.output<typeof ResultContent>;

const Tool = z.looseObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  ...Marked,
});
const Body = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().min(1).optional(),
  system: z.union([z.string(), z.array(TextBlock)]).optional(),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['user', 'assistant', 'system']),
        content: z.union([z.string(), z.array(ContentBlock)]),
      }),
    )
    .min(1),
  tools: z.array(Tool).nullish(),
  tool_choice: z.looseObject({ type: z.enum(['auto', 'any', 'tool', 'none']), name: z.string().optional() }).nullish(),
  stream: z.boolean().nullish(),
  cache_control: CacheControl.nullish(),
});
type Body = z.output<typeof Body>;

/** Tokens of framing around each message, tool and block. */
const FRAMING_TOKENS = 4;

/** Breakpoints that one request may set. */
const MOST_BREAKPOINTS = 4;

/**
 * Reads the body of `POST /v1/messages` or `/v1/messages/count_tokens`.
 * @throws VendorError as Anthropic would refuse it
 */
export function parseAnthropicRequest(json: unknown, purpose: 'answer' | 'count'): SimulatorRequest {
  const parsed = Body.safeParse(json);
  if (!parsed.success) throw invalidRequest('anthropic', firstIssue(parsed.error));
  const body = parsed.data;
  const model = findModel(body.model);
  if (model === undefined) throw vendorError('anthropic', { status: 404, message: `model: ${body.model}` });
  if (purpose === 'answer') checkMaximum(body, model);
  const messages = body.messages.map((message, index) => readMessage(message, index));
  checkAnthropicPairs(messages);
  if (messages[0]?.role !== 'user')
    throw invalidRequest('anthropic', 'messages: first message must use the "user" role');
  return {
    protocol: 'anthropic',
    model,
    system: typeof body.system === 'string' ? body.system : (body.system ?? []).map((block) => block.text).join('\n'),
    tools: (body.tools ?? []).map((tool) => ({
      name: tool.name,
      description: tool.description ?? '',
      inputSchema: tool.input_schema,
    })),
    messages,
    toolChoice: readToolChoice(body),
    maximumOutput: body.max_tokens ?? model.maximumOutput,
    stream: body.stream ?? false,
    streamUsage: true,
    pieces: listPieces(body),
    echo: {},
  };
}

function checkMaximum(body: Body, model: SimulatedModel): void {
  if (body.max_tokens === undefined) throw invalidRequest('anthropic', 'max_tokens: Field required');
  if (body.max_tokens > model.maximumOutput) {
    throw invalidRequest(
      'anthropic',
      `max_tokens: ${body.max_tokens} > ${model.maximumOutput}, which is the maximum allowed number of output tokens for ${model.id}`,
    );
  }
}

/** The first problem in the vendor's form: `messages.0.content: Field required`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? 'Invalid request' : `${issue.path.join('.') || 'body'}: ${issue.message}`;
}

function readToolChoice(body: Body): ToolChoice {
  const choice = body.tool_choice;
  if (choice?.type === 'tool') return { kind: 'tool', name: choice.name ?? '' };
  return { kind: choice?.type ?? 'auto' };
}

function readMessage(message: Body['messages'][number], index: number): Message {
  const content = blocksOf(message.content);
  if (content.length === 0)
    throw invalidRequest('anthropic', `messages.${index}: all messages must have non-empty content`);
  if (content.some((block) => block.type === 'text' && block.text === '')) {
    throw invalidRequest('anthropic', `messages.${index}: text content blocks must be non-empty`);
  }
  return {
    role: message.role === 'assistant' ? 'assistant' : 'user',
    blocks: content.map((block) => readBlock(block)),
  };
}

function blocksOf(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function readBlock(block: ContentBlock): Block {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'tool_use':
      return { kind: 'tool_call', id: block.id, name: block.name, argumentsText: JSON.stringify(block.input) };
    case 'tool_result':
      return {
        kind: 'tool_result',
        callId: block.tool_use_id,
        isError: block.is_error ?? false,
        text: resultText(block.content),
      };
    case 'image':
    case 'document':
    case 'thinking':
    case 'redacted_thinking':
      return { kind: 'other' };
  }
}

function resultText(content: ResultContent | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function listPieces(body: Body): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const tool of body.tools ?? []) {
    const { cache_control: mark, ...rest } = tool;
    pieces.push(piece(JSON.stringify(rest), FRAMING_TOKENS, mark));
  }
  const system = typeof body.system === 'string' ? [{ type: 'text' as const, text: body.system }] : (body.system ?? []);
  for (const block of system)
    pieces.push(piece(block.text, FRAMING_TOKENS, 'cache_control' in block ? block.cache_control : undefined));
  for (const message of body.messages) {
    blocksOf(message.content).forEach((block, index) =>
      pieces.push(blockPiece(block, index === 0 ? `${message.role}\n` : '')),
    );
  }
  if (pieces.filter((one) => one.cacheMark !== undefined).length > MOST_BREAKPOINTS) {
    throw invalidRequest('anthropic', `A maximum of ${MOST_BREAKPOINTS} blocks with cache_control may be provided.`);
  }
  const last = pieces.at(-1);
  if (body.cache_control != null && last !== undefined)
    pieces[pieces.length - 1] = { ...last, cacheMark: body.cache_control.ttl ?? '5m' };
  return pieces;
}

function piece(text: string, extraTokens: number, mark: z.output<typeof CacheControl> | null | undefined): Piece {
  return mark == null ? { text, extraTokens } : { text, extraTokens, cacheMark: mark.ttl ?? '5m' };
}

function blockPiece(block: ContentBlock, prefix: string): Piece {
  switch (block.type) {
    case 'text':
      return piece(prefix + block.text, FRAMING_TOKENS, block.cache_control);
    case 'image':
    case 'document':
      return piece(prefix, FRAMING_TOKENS + imageTokens(block.source.data ?? ''), block.cache_control);
    case 'tool_use':
      return piece(
        `${prefix}${block.id}${block.name}${JSON.stringify(block.input)}`,
        FRAMING_TOKENS,
        block.cache_control,
      );
    case 'tool_result': {
      const images =
        typeof block.content === 'string' ? [] : (block.content ?? []).filter((part) => part.type !== 'text');
      const tokens = images.reduce(
        (sum, part) => sum + imageTokens('source' in part ? (part.source.data ?? '') : ''),
        0,
      );
      return piece(
        `${prefix}${block.tool_use_id}${resultText(block.content)}`,
        FRAMING_TOKENS + tokens,
        block.cache_control,
      );
    }
    case 'thinking':
      return piece(prefix + block.thinking, FRAMING_TOKENS, undefined);
    case 'redacted_thinking':
      return piece(prefix + block.data, FRAMING_TOKENS, undefined);
  }
}
