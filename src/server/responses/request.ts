/** What a request asks for. Everything that an agent's configuration decides is refused rather than ignored. */
import { z } from 'zod';
import { jsonForm } from '../../client/answer-form.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { RequestError } from '../problem.ts';
import { readItemId, readResponseId } from './ids.ts';
import { inputContent } from './input-content.ts';

/** Asks for the summaries of compactions. */
export const INCLUDE_SUMMARIES = 'holdfast:compaction.summary';

const AGENT = 'is decided by the agent: leave it out';

/** Only what changes nothing. */
function only(values: readonly unknown[], error: string): z.ZodType {
  const harmless = new Set(values.map((value) => JSON.stringify(value)));
  return z
    .unknown()
    .refine((value) => value == null || harmless.has(JSON.stringify(value)), { error })
    .optional();
}

const item = z.looseObject({ type: z.string().optional(), id: z.string().nullish() });
const conversation = z.union([z.uuid(), z.object({ id: z.uuid() }).transform(({ id }) => id)], {
  error: 'is no conversation of this server',
});
/** The form of the answer. */
const answerFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({
    type: z.literal('json_schema'),
    schema: jsonForm,
    name: z.string().nullish(),
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
]);

const continues = {
  model: z.string({ error: 'names the agent' }).min(1),
  input: z.union([z.string(), z.array(item)], { error: 'is a text or a list of items' }),
  previous_response_id: z.string().nullish(),
  conversation: conversation.nullish(),
  instructions: only([''], AGENT),
  prompt_cache_key: z.string().nullish(),
};

export const createBody = z.strictObject({
  ...continues,
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  include: z.array(z.string()).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  /** Whose memories the agent reads and writes. */
  user: z.string().nullish(),
  tools: only([[]], "is refused: an agent uses its own tools, and yours run in the agent's MCP servers"),
  tool_choice: only(['auto'], AGENT),
  text: z.strictObject({ format: answerFormat.nullish() }).nullish(),
  store: only([true], 'is always true: originals are kept'),
  temperature: only([], AGENT),
  top_p: only([], AGENT),
  presence_penalty: only([0], AGENT),
  frequency_penalty: only([0], AGENT),
  max_output_tokens: only([], AGENT),
  max_tool_calls: only([], AGENT),
  reasoning: only([{}], AGENT),
  top_logprobs: only([0], AGENT),
  truncation: only(['auto', 'disabled'], 'is decided by the compaction preset of the agent'),
  // Of no effect on what an agent does.
  parallel_tool_calls: z.boolean().nullish(),
  service_tier: z.string().nullish(),
  stream_options: z.unknown().optional(),
  safety_identifier: z.string().nullish(),
  prompt_cache_retention: z.string().nullish(),
});

export const compactBody = z.strictObject({ ...continues, input: continues.input.nullish() });

export type CreateBody = z.output<typeof createBody>;

/** What a request goes on with. */
export interface Continued {
  readonly conversationId: string;
  /** The conversation must stand where this turn ended; `null`: wherever it stands. */
  readonly turnId: string | null;
  /** The same by its message. */
  readonly messageId: string | null;
}

export interface Asked {
  readonly continued: Continued | null;
  /** `null`: nothing is said. */
  readonly content: readonly ContentPart[] | null;
}

/** @throws RequestError `invalid_argument` */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return data;
  const fields = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ field: key.slice(0, 60), message: 'is not known here' }))
      : [{ field: issue.path.map(String).join('.'), message: issue.message }],
  );
  const told = fields.slice(0, 10).map(({ field, message }) => `${field} ${message}`);
  throw new RequestError('invalid_argument', `The request is refused: ${told.join('; ')}.`, { fields });
}

/** Where it goes on and what is said there. @throws RequestError `invalid_argument` */
export function askedOf(body: Pick<CreateBody, 'previous_response_id' | 'conversation'> & { input?: unknown }): Asked {
  const { previous_response_id: previous, conversation: named } = body;
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
  const items = z.array(item).parse(input);
  const lastOwn = items.findLastIndex(({ id }) => id != null && readItemId(id) !== null);
  const place = readItemId(items[lastOwn]?.id ?? '');
  const asked = [previous, named, place].filter((one) => one != null);
  if (asked.length > 1) {
    throw refused(
      'input',
      'goes on with a conversation in two ways: name one of previous_response_id, conversation, items',
    );
  }
  return {
    continued: continuedOf(previous ?? null, named ?? null, place),
    content: inputContent(items.slice(lastOwn + 1)),
  };
}

function continuedOf(
  previous: string | null,
  named: string | null,
  place: ReturnType<typeof readItemId>,
): Continued | null {
  if (previous !== null) return { ...readResponseId(previous, 'previous_response_id'), turnId: null };
  if (named !== null) return { conversationId: named, turnId: null, messageId: null };
  return place === null ? null : { ...place, messageId: null };
}

function refused(field: string, message: string): RequestError {
  return new RequestError('invalid_argument', `The request is refused: ${field} ${message}.`, {
    fields: [{ field, message }],
  });
}
