import { z } from 'zod';
import { imageTokens } from '../core/images.ts';
import type { Block, Message, Piece, SimulatorRequest, ToolChoice } from '../core/request.ts';
import { findModel } from '../core/simulated-model.ts';
import { invalidRequest, vendorError } from '../core/vendor-error.ts';
import { firstIssue } from './anthropic-request.ts';
import { checkOutputLimit, unknownModel } from './chat-request.ts';
import { checkResponsesPairs } from './tool-pairs.ts';

const Part = z.union([
  z.looseObject({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() }),
  z.looseObject({ type: z.literal('input_image'), image_url: z.string().nullish() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.enum(['input_file', 'input_audio']) }),
]);
const Content = z.union([z.string(), z.array(Part)]);
type Content = z.output<typeof Content>;
const Item = z.union([
  z.object({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.object({ type: z.literal('function_call_output'), call_id: z.string(), output: Content }),
  z.object({ type: z.literal('reasoning'), encrypted_content: z.string().nullish() }),
  z.object({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: Content,
  }),
]);
type Item = z.output<typeof Item>;
const Tool = z.looseObject({
  type: z.literal('function'),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: z.string().nullish(),
  parameters: z.looseObject({}).nullish(),
});
const Body = z.looseObject({
  model: z.string(),
  instructions: z.string().nullish(),
  input: z.union([z.string(), z.array(Item)]),
  tools: z.array(Tool).max(128).nullish(),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ name: z.string() })]).nullish(),
  max_output_tokens: z.number().int().min(16).nullish(),
  stream: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
});
type Body = z.output<typeof Body>;

/** Tokens of framing around each item. */
const FRAMING_TOKENS = 4;

/** Parameters that a response repeats, with what stands there when the request is silent. */
const ECHOED = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
};

/**
 * Reads the body of `POST /v1/responses`. Nothing is stored: a `previous_response_id` is never found.
 * @throws VendorError as OpenAI would refuse it
 */
export function parseResponsesRequest(json: unknown): SimulatorRequest {
  const parsed = Body.safeParse(json);
  if (!parsed.success)
    throw invalidRequest('responses', firstIssue(parsed.error), parsed.error.issues[0]?.path.join('.') ?? null);
  const body = parsed.data;
  const model = findModel(body.model);
  if (model === undefined) throw unknownModel('responses', body.model);
  checkOutputLimit('responses', body.max_output_tokens ?? undefined, model, 'max_output_tokens');
  if (body.previous_response_id != null) {
    const message = `Previous response with id '${body.previous_response_id}' not found.`;
    throw vendorError('responses', {
      status: 400,
      message,
      parameter: 'previous_response_id',
      code: 'previous_response_not_found',
    });
  }
  const items = typeof body.input === 'string' ? [{ role: 'user' as const, content: body.input }] : body.input;
  const messages = items.flatMap((item) => readItem(item) ?? []);
  checkResponsesPairs(messages);
  return {
    protocol: 'responses',
    model,
    system: [body.instructions ?? '', ...items.flatMap((item) => (isSystem(item) ? [contentText(item.content)] : []))]
      .filter(Boolean)
      .join('\n'),
    tools: (body.tools ?? []).map((tool) => ({
      name: tool.name,
      description: tool.description ?? '',
      inputSchema: tool.parameters ?? {},
    })),
    messages,
    toolChoice: readToolChoice(body),
    maximumOutput: body.max_output_tokens ?? model.maximumOutput,
    stream: body.stream ?? false,
    streamUsage: true,
    pieces: listPieces(body, items),
    echo: Object.fromEntries(Object.entries(ECHOED).map(([key, silent]) => [key, body[key] ?? silent])),
  };
}

type MessageItem = Extract<Item, { role: string }>;

function isSystem(item: Item): item is MessageItem {
  return 'role' in item && (item.role === 'system' || item.role === 'developer');
}

function readToolChoice(body: Body): ToolChoice {
  const choice = body.tool_choice ?? 'auto';
  if (typeof choice === 'object') return { kind: 'tool', name: choice.name };
  return { kind: choice === 'required' ? 'any' : choice };
}

function contentText(content: Content): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : [])).join('\n');
}

function readItem(item: Item): Message | undefined {
  if ('role' in item) {
    if (item.role === 'system' || item.role === 'developer') return undefined;
    return { role: item.role, blocks: [{ kind: 'text', text: contentText(item.content) }] };
  }
  switch (item.type) {
    case 'function_call': {
      const call: Block = { kind: 'tool_call', id: item.call_id, name: item.name, argumentsText: item.arguments };
      return { role: 'assistant', blocks: [call] };
    }
    case 'function_call_output': {
      const result: Block = {
        kind: 'tool_result',
        callId: item.call_id,
        isError: false,
        text: contentText(item.output),
      };
      return { role: 'user', blocks: [result] };
    }
    case 'reasoning':
      return { role: 'assistant', blocks: [{ kind: 'other' }] };
  }
}

function listPieces(body: Body, items: readonly Item[]): readonly Piece[] {
  const tools = (body.tools ?? []).map((tool): Piece => ({ text: JSON.stringify(tool), extraTokens: FRAMING_TOKENS }));
  const instructions: Piece[] =
    body.instructions == null ? [] : [{ text: body.instructions, extraTokens: FRAMING_TOKENS }];
  return [...tools, ...instructions, ...items.map((item) => itemPiece(item))];
}

function itemPiece(item: Item): Piece {
  if ('role' in item) return contentPiece(`${item.role}\n`, item.content);
  switch (item.type) {
    case 'function_call':
      return { text: `${item.call_id}${item.name}${item.arguments}`, extraTokens: FRAMING_TOKENS };
    case 'function_call_output':
      return contentPiece(item.call_id, item.output);
    case 'reasoning':
      return { text: item.encrypted_content ?? '', extraTokens: FRAMING_TOKENS };
  }
}

function contentPiece(prefix: string, content: Content): Piece {
  const parts = typeof content === 'string' ? [] : content;
  const images = parts.reduce(
    (sum, part) =>
      part.type === 'input_image' ? sum + imageTokens((part.image_url ?? '').replace(/^data:[^,]*,/, '')) : sum,
    0,
  );
  return { text: prefix + contentText(content), extraTokens: FRAMING_TOKENS + images };
}
