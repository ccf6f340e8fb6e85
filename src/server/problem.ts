import { z } from 'zod';
import { clientError, HoldfastClientError } from '../client/errors.ts';
import type { ClientErrorCode } from '../client/errors.ts';

/** What the server itself refuses, before a client is asked. */
export type ServerErrorCode =
  /** No such route. */
  | 'route_not_found'
  | 'body_too_large'
  | 'body_not_json'
  /** The request came by a name or from a page that is not this server's. */
  | 'origin_refused'
  /** No key, or one that is not in force. */
  | 'key_missing'
  | 'key_refused'
  /** A browser without the cookie of a login. */
  | 'login_needed'
  | 'scope_missing'
  | 'too_many_turns'
  | 'cost_limit_reached'
  | 'range_refused'
  | 'too_many_watchers'
  | 'too_many_requests'
  | 'internal';

export type ProblemCode = ClientErrorCode | ServerErrorCode;

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** Thrown by the server's own checks. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ProblemCode;
  readonly fields: readonly FieldProblem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    message: string,
    options: {
      readonly fields?: readonly FieldProblem[];
      readonly retryAfterSeconds?: number;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.fields = options.fields ?? [];
    const { retryAfterSeconds, headers } = options;
    this.headers = { ...headers, ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }) };
  }
}

const UNKNOWN_ID = 'Use an id that this API answered; GET /v1/conversations lists the conversations.';
const AGAIN = 'Send the request again.';
const OPERATOR = 'Tell the operator of this server; its log says more.';
const SHOWN = 'GET /v1/conversations/{conversationId} shows how things stand.';

/** Status, and what the caller can do. */
const ANSWERS: Readonly<Record<ProblemCode, readonly [status: number, next: string]>> = {
  invalid_argument: [400, 'Correct what is named; /reference lists what each route takes.'],
  body_not_json: [400, 'Send a JSON object with content-type application/json.'],
  key_missing: [401, 'Send `Authorization: Bearer <key>`.'],
  key_refused: [401, 'Ask the operator of this server for another key.'],
  login_needed: [401, 'Open the link that `npx holdfast open --pages` prints: each link logs one browser in.'],
  scope_missing: [403, 'Use a key with that scope.'],
  origin_refused: [403, 'Call the server by its own address, and from a page that it serves.'],
  route_not_found: [404, '/reference lists the routes.'],
  conversation_not_found: [404, UNKNOWN_ID],
  entry_not_found: [404, UNKNOWN_ID],
  branch_not_found: [404, 'GET /v1/conversations/{conversationId}/branches lists them.'],
  model_call_not_found: [404, 'GET /v1/conversations/{conversationId}/model-calls lists them.'],
  memory_not_found: [404, 'GET /v1/memories lists them.'],
  decision_not_found: [404, 'GET /v1/decisions lists what waits.'],
  timeout: [408, 'The turn goes on: wait again.'],
  conversation_busy: [409, 'Stop the turn, or wait until it has ended.'],
  conversation_exists: [409, SHOWN],
  message_id_reused: [409, 'Send with another Idempotency-Key.'],
  decision_id_reused: [409, 'Send with another Idempotency-Key.'],
  decision_ambiguous: [409, 'Name one of the waiting calls in `call`.'],
  decision_stale: [409, SHOWN],
  nothing_to_resume: [409, 'Send a message instead.'],
  limit_not_raised: [409, 'Raise the limit by that much or more in `raise`.'],
  resume_waiting: [409, 'Wait: the turn goes on once a worker takes it.'],
  body_too_large: [413, 'Send less, or let the operator raise `server.bodyBytes` or `server.attachments`.'],
  range_refused: [416, 'Leave Range out, or name a range within the size that Content-Range says.'],
  conversation_file_invalid: [422, 'Export the conversation again.'],
  too_many_waiting: [429, 'Wait until turns have taken some of the messages.'],
  too_many_requests: [429, 'Wait as long as Retry-After says.'],
  too_many_turns: [429, 'Wait until turns have ended, or stop one.'],
  cost_limit_reached: [429, 'Wait, or let the operator raise the limit of the key.'],
  too_many_watchers: [429, 'Close other streams, or wait as long as Retry-After says.'],
  internal: [500, OPERATOR],
  client_closed: [503, AGAIN],
  database_unreachable: [503, AGAIN],
  database_busy: [503, AGAIN],
  database_read_only: [503, OPERATOR],
  database_disk_full: [503, OPERATOR],
  database_connections_used_up: [503, AGAIN],
  database_refused: [503, OPERATOR],
  database_pooled: [503, OPERATOR],
  database_schema: [503, OPERATOR],
  server_unreachable: [503, AGAIN],
  server_refused: [503, OPERATOR],
  namespace_differs: [503, OPERATOR],
};

export function statusOf(code: ProblemCode): number {
  return ANSWERS[code][0];
}

/** An error as RFC 9457 writes it, with our code and what to do. */
export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(Object.keys(ANSWERS)),
    /** What the caller can do. */
    next: z.string(),
    /** Of arguments that are refused. */
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });

type Problem = z.output<typeof problem>;

/** Seconds after which a request that the server could not serve may be sent again. */
const RETRY_SECONDS = 1;

/** @param log told of what is no refusal but a fault of this server */
export function problemOf(thrown: unknown, log: (error: unknown) => void): Problem {
  const error = thrown instanceof RequestError ? thrown : clientError(thrown);
  if (error instanceof RequestError) return written(error.code, error.message, error.fields);
  // The address of the database is nothing for a caller: `what` of an outage names it.
  if (error instanceof HoldfastClientError) {
    const isOutage = statusOf(error.code) === 503;
    if (isOutage) log(error);
    return written(error.code, isOutage ? 'Holdfast cannot serve this now.' : error.what, []);
  }
  // Its caller has left, or the server ends: no fault.
  if (error instanceof Error && error.name === 'AbortError') return written('client_closed', 'The wait was ended.', []);
  log(error);
  return written('internal', 'The server failed.', []);
}

function written(code: ProblemCode, detail: string, fields: readonly FieldProblem[]): Problem {
  const [status, next] = ANSWERS[code];
  return {
    type: `urn:holdfast:error:${code}`,
    title: code.replaceAll('_', ' '),
    status,
    detail,
    code,
    next,
    ...(fields.length > 0 && { errors: [...fields] }),
  };
}

export function problemResponse(thrown: unknown, log: (error: unknown) => void): Response {
  const body = problemOf(thrown, log);
  return new Response(JSON.stringify(body), {
    status: body.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(body.status === 401 && { 'www-authenticate': 'Bearer' }),
      ...((body.status === 429 || body.status === 503) && { 'retry-after': String(RETRY_SECONDS) }),
      ...(thrown instanceof RequestError && thrown.headers),
    },
  });
}
