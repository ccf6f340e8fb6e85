/** The routes of Open Responses: a model is an agent, a response is a turn. */
import { Hono } from 'hono';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Holdfast } from '../../client/holdfast.ts';
import type { ApplicationParts } from '../application.ts';
import { requireScope } from '../access.ts';
import type { Caller } from '../access.ts';
import { readBody } from '../arguments.ts';
import { problemOf, problemResponse, RequestError } from '../problem.ts';
import { compactResponse } from './compact.ts';
import { createResponse } from './create.ts';
import type { CreatedResponse } from './create.ts';
import { readResponseId } from './ids.ts';
import type { ResponseReference } from './ids.ts';
import { askedOf, compactBody, createBody, INCLUDE_SUMMARIES, parseBody } from './request.ts';
import { readResponse } from './resource.ts';
import { responseEvents } from './stream.ts';
import { waitForResponse } from './wait.ts';

/** Scopes, limits and tenants are those of the server's own API. */
export function responsesRoutes(parts: ApplicationParts): Hono {
  const api = new Hono();
  const { configured, limits } = parts;
  api.onError((error) => errorResponse(error, parts.log));
  const limit = bodyLimit({
    maxSize: limits.bodyBytes,
    onError: () => {
      throw new RequestError('body_too_large', `A body has at most ${limits.bodyBytes} bytes.`);
    },
  });
  api.get('/models', async (context) => {
    requireScope(await parts.access.callerOf(context), 'read');
    const data = configured.agents.map(({ name }) => ({ id: name, object: 'model', created: 0, owned_by: 'holdfast' }));
    return context.json({ object: 'list', data });
  });
  api.post('/responses', limit, (context) => create(context, parts));
  api.post('/responses/compact', limit, async (context) => {
    const { client } = await admitted(context, parts, 'write');
    const body = parseBody(compactBody, await readBody(context));
    return context.json(await compactResponse(client, body.model, askedOf(body), context.req.raw.signal));
  });
  api.get('/responses/:id', async (context) => {
    const { client } = await admitted(context, parts, 'read');
    if (context.req.query('stream') === 'true') {
      throw new RequestError('invalid_argument', 'stream is refused here: only POST /v1/responses streams.');
    }
    const included = [...(context.req.queries('include[]') ?? []), ...(context.req.queries('include') ?? [])];
    return context.json(await readResponse(client, named(context), {}, included.includes(INCLUDE_SUMMARIES)));
  });
  api.post('/responses/:id/cancel', async (context) => {
    const { client } = await admitted(context, parts, 'write');
    return context.json(await cancel(client, named(context), context.req.raw.signal));
  });
  return api;
}

async function admitted(context: Context, { access, clientOf }: ApplicationParts, scope: 'read' | 'write') {
  const caller = await access.callerOf(context);
  requireScope(caller, scope);
  context.header('cache-control', 'no-store');
  return { caller, client: clientOf(caller.tenant) };
}

async function create(context: Context, parts: ApplicationParts): Promise<Response> {
  const { caller, client } = await admitted(context, parts, 'write');
  const body = parseBody(createBody, await readBody(context));
  const asked = askedOf(body);
  await parts.access.requireRoom(caller);
  const created = await createResponse(client, body, asked);
  if (body.stream === true) return stream(context, parts, { caller, client, created });
  const { reference, echoed, showsSummaries } = created;
  if (!echoed.isBackground) await waitForResponse(client, reference, context.req.raw.signal);
  return context.json(await readResponse(client, reference, echoed, showsSummaries));
}

function stream(
  context: Context,
  { streams, log }: ApplicationParts,
  {
    caller,
    client,
    created,
  }: { readonly caller: Caller; readonly client: Holdfast; readonly created: CreatedResponse },
): Response {
  let sequence = 0;
  return streams.open(
    context,
    caller,
    async (stream, signal) => {
      for await (const event of responseEvents({ ...created, client, signal })) {
        const data = JSON.stringify({ ...event, sequence_number: sequence++ });
        await stream.writeSSE({ event: event.type, data });
      }
      if (!signal.aborted) await stream.writeSSE({ data: '[DONE]' });
    },
    (stream, error) => {
      const told = { type: 'error', sequence_number: sequence++, ...errorOf(error, log) };
      return stream.writeSSE({ event: 'error', data: JSON.stringify(told) });
    },
  );
}

/** Stops the turn; of one that has ended it changes nothing. */
async function cancel(client: Holdfast, reference: ResponseReference, signal: AbortSignal) {
  const { conversationId } = reference;
  const before = await readResponse(client, reference, {}, false);
  if (before.status !== 'in_progress' && before.status !== 'queued') return before;
  const { turn, waitingMessages } = await client.conversation.get({ conversationId });
  if (waitingMessages > 0 && turn !== null) {
    throw new RequestError('conversation_busy', 'Messages wait in the conversation: a stop would end another turn.');
  }
  await client.conversation.stop({ conversationId });
  await client.conversation.outcome({ ...reference, signal });
  return readResponse(client, reference, {}, false);
}

function named(context: Context): ResponseReference {
  return readResponseId(context.req.param('id') ?? '', 'id');
}

/** An error as Open Responses writes it. */
function errorOf(error: unknown, log: (error: unknown) => void) {
  const { status, code, detail, next, errors } = problemOf(error, log);
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { type, code, message: `${detail} ${next}`, param: errors?.[0]?.field ?? '' } };
}

function errorResponse(error: unknown, log: (error: unknown) => void): Response {
  const { status, headers } = problemResponse(error, () => undefined);
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify(errorOf(error, log)), { status, headers });
}
