import { z } from 'zod';
import { jsonForm } from '../../client/answer-form.ts';
import { exactly } from '../../client/arguments.ts';
import type { MessagePart } from '../../client/arguments.ts';
import { checked, refused } from '../arguments.ts';
import { readId } from './output.ts';
import type { ResponseReference } from './output.ts';

export const INCLUDE_SUMMARIES = 'holdfast:compaction.summary';

/** What the agent and this server decide: a response says it, and a request that says something else is refused rather than ignored. */
export const DECIDED = {
  instructions: null,
  tools: [],
  tool_choice: 'auto',
  store: true,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  reasoning: null,
  max_output_tokens: null,
  max_tool_calls: null,
} as const;

/** Of no effect on what an agent does: a request may say anything. */
export const UNUSED = {
  parallel_tool_calls: true,
  truncation: 'auto',
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
} as const;

const DATA = /^data:(?<mediaType>[^;,]+)(?:;[^;,]+)*;base64,(?<data>.*)$/su;
const inline = z
  .string()
  .regex(DATA, 'is an address: send pictures and files as data:<media type>;base64,<data>')
  .transform((url) => ({ mediaType: '', data: '', ...DATA.exec(url)?.groups }));
/** What clients send beside an image or a file, and what is of no effect here. */
const besides = { detail: z.string().nullish(), file_id: z.null().optional() };
const part = z.discriminatedUnion('type', [
  exactly({ type: z.literal('input_text'), text: z.string() }).transform(({ text }): MessagePart => ({
    type: 'text',
    text,
  })),
  exactly({ type: z.literal('input_image'), image_url: inline, ...besides }).transform(
    ({ image_url: { data } }): MessagePart => ({ type: 'image', data }),
  ),
  exactly({
    type: z.literal('input_file'),
    filename: z.string().default('file'),
    file_data: inline,
    ...besides,
  }).transform(({ filename: name, file_data: file }): MessagePart => ({ type: 'file', name, ...file })),
]);
const error = 'is no message of the user: continue with previous_response_id, conversation, or items of this server';
/** The one item that a request may bring. */
const userMessage = exactly({
  type: z.literal('message', { error }).optional(),
  role: z.literal('user', { error }),
  id: z.string().nullish(),
  status: z.string().nullish(),
  content: z.preprocess(
    (given) => (typeof given === 'string' ? [{ type: 'input_text', text: given }] : given),
    z.array(part),
  ),
});
/** `null`: what the conversation holds already. */
const newItems = exactly({ input: z.array(userMessage.nullable()) });

const item = z.looseObject({ id: z.string().nullish() });
const conversation = z.union([z.uuid(), z.object({ id: z.uuid() }).transform(({ id }) => id)], {
  error: 'is no conversation of this server',
});
const answerFormat = z.discriminatedUnion('type', [
  exactly({ type: z.literal('text') }),
  exactly({
    type: z.literal('json_schema'),
    name: z.string().default('answer'),
    schema: jsonForm,
    description: z.string().optional(),
    strict: z.boolean().nullable().default(null),
  }),
]);
const fields = exactly({
  model: z.string({ error: 'must name the agent' }).min(1),
  input: z.union([z.string(), z.array(item)], { error: 'is a text or a list of items' }).nullish(),
  previous_response_id: z.string().nullish(),
  conversation: conversation.nullish(),
  text: exactly({ format: answerFormat.nullish() }).nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  include: z.array(z.string()).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  /** Whose memories the agent reads and writes. */
  user: z.string().nullish(),
  stream_options: z.unknown().optional(),
});

export type Asked = ReturnType<typeof readRequest>;

/** `continued`: after which response (`null`: any); `null`: a new conversation. @throws RequestError `invalid_argument` */
export function readRequest(body: Readonly<Record<string, unknown>>) {
  for (const [field, value] of Object.entries(DECIDED)) {
    const given = body[field];
    if (given == null || JSON.stringify(given) === JSON.stringify(value)) continue;
    const tools = "is refused: an agent uses its own tools, and yours run in the agent's MCP servers";
    throw refused([{ field, message: field === 'tools' ? tools : 'is decided by the agent: leave it out' }]);
  }
  const others = Object.entries(body).filter(([field]) => !(field in DECIDED || field in UNUSED));
  const { input, ...asked } = checked(fields, Object.fromEntries(others));
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  // What a client resends ends with the newest item of this server.
  const ownItem = items.findLastIndex(({ id }) => typeof id === 'string' && readId(id) !== null);
  const { previous_response_id: previous, conversation: named } = asked;
  const places = [
    ...(previous == null ? [] : [readResponseId(previous, 'previous_response_id')]),
    ...(named == null ? [] : [{ conversationId: named, messageId: null }]),
    ...items.slice(ownItem, ownItem + 1).flatMap(({ id }) => readId(String(id)) ?? []),
  ];
  if (places.length > 1) {
    const message = 'goes on in two ways: previous_response_id, conversation or own items';
    throw refused([{ field: 'input', message }]);
  }
  const sent = checked(newItems, { input: items.map((each, place) => (place > ownItem ? each : null)) });
  return { ...asked, continued: places[0] ?? null, content: sent.input.flatMap((message) => message?.content ?? []) };
}

/** @throws RequestError `invalid_argument` */
export function readResponseId(id: string, field: string): ResponseReference {
  const reference = readId(id);
  if (reference?.isResponse !== true) throw refused([{ field, message: 'is no id of a response of this server' }]);
  return reference;
}
