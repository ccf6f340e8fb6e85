import { z } from 'zod';
import { jsonForm } from '../../client/answer-form.ts';
import { exactly, issuesOf } from '../../client/arguments.ts';
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
  truncation: 'auto',
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
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
} as const;

const item = z.looseObject({ type: z.string().optional(), id: z.string().nullish() });
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
  model: z.string({ error: 'names the agent' }).min(1),
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

export interface Asked extends Omit<z.output<typeof fields>, 'input'> {
  /** The conversation that it goes on with, and the response with which that must end (`null`: any); `null`: a new one. */
  readonly continued: { readonly conversationId: string; readonly messageId: string | null } | null;
  readonly content: readonly MessagePart[];
}

/** @throws RequestError `invalid_argument` */
export function readRequest(body: Readonly<Record<string, unknown>>): Asked {
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
  if (places.length > 1) throw refusedInput('goes on in two ways: previous_response_id, conversation or own items');
  return {
    ...asked,
    continued: places[0] ?? null,
    content: items.flatMap((each, place) => (place > ownItem ? contentOf(each, place) : [])),
  };
}

/** @throws RequestError `invalid_argument` */
export function readResponseId(id: string, field: string): ResponseReference {
  const reference = readId(id);
  if (reference?.isResponse !== true) throw refused([{ field, message: 'is no id of a response of this server' }]);
  return reference;
}

const DATA = /^data:(?<mediaType>[^;,]+)(?:;[^;,]+)*;base64,(?<data>.*)$/su;

/** What clients send beside an image or a file, and what is of no effect here. */
const besides = { detail: z.string().nullish(), file_id: z.null().optional() };
const part = z.discriminatedUnion('type', [
  exactly({ type: z.literal('input_text'), text: z.string() }),
  exactly({ type: z.literal('input_image'), image_url: z.string(), ...besides }),
  exactly({ type: z.literal('input_file'), filename: z.string().default('file'), file_data: z.string(), ...besides }),
]);
const ofUser = z.looseObject({ role: z.literal('user') });

/** A message of the user, the one item that a request may bring. */
const inputMessage = exactly({
  type: z.literal('message').optional(),
  role: z.literal('user'),
  id: z.string().nullish(),
  status: z.string().nullish(),
  content: z.union([z.string().transform((text) => [{ type: 'input_text' as const, text }]), z.array(part)]),
});

/** @throws RequestError `invalid_argument` for what is no message of the user */
function contentOf(given: unknown, place: number): MessagePart[] {
  const { data, error } = inputMessage.safeParse(given);
  if (data !== undefined) return data.content.map(toPart);
  if (ofUser.safeParse(given).success) {
    const within = (path: readonly PropertyKey[]): string => ['input', place, ...path].map(String).join('.');
    throw refused(issuesOf(error).map(({ path, message }) => ({ field: within(path), message })));
  }
  throw refusedInput(
    'holds what is no message of the user: continue with previous_response_id, conversation, or items of this server',
  );
}

function toPart(given: z.output<typeof part>): MessagePart {
  if (given.type === 'input_text') return { type: 'text', text: given.text };
  const url = given.type === 'input_image' ? given.image_url : given.file_data;
  const { mediaType, data } = DATA.exec(url)?.groups ?? {};
  if (mediaType === undefined || data === undefined) {
    throw refusedInput('holds an address: send pictures and files as data:<media type>;base64,<data>');
  }
  return given.type === 'input_image'
    ? { type: 'image', data }
    : { type: 'file', mediaType, name: given.filename, data };
}

export function refusedInput(message: string) {
  return refused([{ field: 'input', message }]);
}
