import { z } from 'zod';

/** Which requests a fault meets. All conditions that are given must hold. */
const Match = z.strictObject({
  /** `summary`: the request asks for a summary of a conversation; `agent`: everything else. */
  purpose: z.enum(['agent', 'summary']).optional(),
  model: z.string().optional(),
  protocol: z.enum(['anthropic', 'chat', 'responses']).optional(),
  /** Text that stands somewhere in the request's body. */
  containing: z.string().optional(),
  /** Characters that the request's body has at least. */
  minimumCharacters: z.number().int().min(0).optional(),
});

/** How often a fault strikes; the rest of a fault is its kind. */
const Schedule = {
  /** Requests that it meets; `null`: until it is deleted. */
  times: z.number().int().min(1).nullable().default(1),
  /** Matching requests that pass before it strikes. */
  skip: z.number().int().min(0).default(0),
  match: Match.default({}),
};

const afterBytes = z.number().int().min(0).default(200);
const plain = <K extends string>(...kinds: readonly [K, ...K[]]) =>
  z.strictObject({ kind: z.enum(kinds), ...Schedule });

/** A fault, as the control endpoint and the `x-simulator-fault` header take it. */
export const FaultSchema = z.discriminatedUnion('kind', [
  /** The input is refused as too long, in the words of the vendor whose protocol is spoken. */
  z.strictObject({
    kind: z.literal('overflow'),
    actual: z.number().int().optional(),
    limit: z.number().int().optional(),
    ...Schedule,
  }),
  /** 429. A `null` leaves the Retry-After header out. */
  z.strictObject({
    kind: z.literal('rate_limit'),
    retryAfterSeconds: z.number().min(0).nullable().default(1),
    ...Schedule,
  }),
  z.strictObject({
    kind: z.literal('server_error'),
    status: z.union([z.literal(500), z.literal(502), z.literal(503), z.literal(504), z.literal(529)]).default(500),
    ...Schedule,
  }),
  /** Any status, body (text or JSON) and headers. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.number().int().min(200).max(599),
    body: z.unknown().default(''),
    headers: z.record(z.string(), z.string()).default({}),
    ...Schedule,
  }),
  /** The connection is closed with a reset before a byte of the answer is sent. */
  plain('connection_reset'),
  /** No byte of the answer ever comes. */
  plain('hang'),
  /** The connection ends after so many bytes of the answer, without the answer's own ending. */
  z.strictObject({ kind: z.literal('cut_stream'), afterBytes, ...Schedule }),
  /** The stream falls silent after so many bytes; the connection stays open. */
  z.strictObject({ kind: z.literal('stall_stream'), afterBytes, ...Schedule }),
  /** The stream reports an error after so many bytes, status 200 long sent. */
  z.strictObject({
    kind: z.literal('stream_error'),
    afterBytes,
    status: z.union([z.literal(429), z.literal(500), z.literal(529)]).default(529),
    ...Schedule,
  }),
  /** The first token comes later. */
  z.strictObject({ kind: z.literal('delay'), milliseconds: z.number().int().min(0), ...Schedule }),
  /** The first token comes when the fault is deleted. Only over the control endpoint: a header's fault cannot be deleted. */
  z.strictObject({ kind: z.literal('hold'), ...Schedule, times: z.null().default(null) }),
  plain(
    'malformed_arguments',
    'cut_arguments',
    'unknown_tool',
    'empty_answer',
    'refusal',
    'content_filter',
    'cut_answer',
    'window_full',
  ),
  /** These meet requests for a summary only, whatever `match` says. */
  plain('summary_empty', 'summary_cut_off', 'summary_too_long', 'summary_tool_call', 'summary_without_sections'),
]);

export type Fault = z.output<typeof FaultSchema>;
export type FaultKind = Fault['kind'];

/** The value of an `x-simulator-fault` header: a kind alone, or JSON like the body of `POST /control/faults`. */
export function parseFaultHeader(value: string): Fault {
  const json: unknown = value.trimStart().startsWith('{') ? JSON.parse(value) : { kind: value.trim() };
  return FaultSchema.parse(json);
}
