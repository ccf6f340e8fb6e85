/** The routes of Open Responses: a model is an agent, a response is a turn. Scopes, limits and tenants are those of the server's own API. */
import { Hono } from 'hono';
import type { Context } from 'hono';
import { admit } from '../admission.ts';
import type { Admitted } from '../admission.ts';
import type { ApplicationParts } from '../application.ts';
import { readBody, refused } from '../arguments.ts';
import { requireAttachments } from '../limits.ts';
import { untilTurnRests } from '../mcp-turn.ts';
import { problemOf, problemResponse, RequestError } from '../problem.ts';
import { idOf } from './output.ts';
import { readRequest, readResponseId } from './request.ts';
import { compactResponse, createResponse, StoredResponse } from './response.ts';

export function responsesRoutes(parts: ApplicationParts): Hono<Admitted> {
  const { configured, log } = parts;
  const api = new Hono<Admitted>();
  api.onError((error) => {
    const { status, headers } = problemResponse(error, () => undefined);
    headers.set('content-type', 'application/json');
    return new Response(JSON.stringify(errorOf(error, log)), { status, headers });
  });
  for (const path of ['/models', '/responses/*']) api.use(path, admit(parts));
  api.get('/models', async (context) => {
    const ofWorkers = await context.var.clientFor('read').models.listAgents();
    const names = new Set([...configured.agents.map(({ name }) => name), ...ofWorkers]);
    const data = [...names].map((id) => ({ id, object: 'model', created: 0, owned_by: 'holdfast' }));
    return context.json({ object: 'list', data });
  });
  api.post('/responses', (context) => create(context, parts));
  api.post('/responses/compact', async (context) => {
    const { caller, clientFor } = context.var;
    const client = clientFor('write');
    const asked = readRequest(await readBody(context));
    const ending = parts.streams.endingOf(context);
    const read = await parts.access.inRoom({ caller, use: 'calls' }, () => compactResponse(client, asked));
    return parts.streams.answerLate(context, ending, read);
  });
  api.get('/responses/:id', async (context) => {
    const client = context.var.clientFor('read');
    const message = 'is refused here: only POST /v1/responses streams';
    if (context.req.query('stream') === 'true') throw refused([{ field: 'stream', message }]);
    const include = [...(context.req.queries('include[]') ?? []), ...(context.req.queries('include') ?? [])];
    const of = readResponseId(context.req.param('id'), 'id');
    return context.json(await new StoredResponse(client, of, { include }).read());
  });
  api.post('/responses/:id/cancel', async (context) => {
    const client = context.var.clientFor('write');
    const of = readResponseId(context.req.param('id'), 'id');
    return context.json(await new StoredResponse(client, of).cancel(context.req.raw.signal));
  });
  const instead = { '/chat/completions': ': send the new message alone to POST /v1/responses', '/responses/*': '' };
  for (const [path, hint] of Object.entries(instead))
    api.all(path, ({ req }) => {
      throw new RequestError('route_not_found', `${req.method} ${req.path} is not served${hint}.`);
    });
  return api;
}

async function create(context: Context<Admitted>, { access, requireAgent, limits, streams, log }: ApplicationParts) {
  const { caller, clientFor } = context.var;
  const client = clientFor('write');
  const asked = readRequest(await readBody(context));
  requireAttachments(asked.content, limits);
  if (asked.continued === null) await requireAgent(asked.model, 'model');
  // Before the turn begins, because who is refused a place asks again.
  const ending = asked.background === true && asked.stream !== true ? null : streams.endingOf(context);
  const wanted = { caller, use: 'turn', sent: { conversationId: asked.continued?.conversationId } } as const;
  const { of, afterEvent } = await access.inRoom(wanted, () => createResponse(client, asked));
  const response = new StoredResponse(client, of, asked);
  context.header('location', `${context.req.path}/${idOf('resp', of)}`);
  if (ending === null) return context.json(await response.read());
  if (asked.stream !== true)
    return streams.answerLate(context, ending, (signal) =>
      untilTurnRests(client, { ...of, signal }).then(() => response.read()),
    );
  let sequence = 0;
  const numbered = (event: { readonly type: string }) => {
    return { event: event.type, data: JSON.stringify({ ...event, sequence_number: sequence++ }) };
  };
  return streams.open(
    context,
    async (stream, signal) => {
      for await (const event of response.events(afterEvent, signal)) await stream.writeSSE(numbered(event));
      if (!signal.aborted) await stream.writeSSE({ data: '[DONE]' });
    },
    (stream, error) => stream.writeSSE(numbered({ type: 'error', ...errorOf(error, log) })),
    ending,
  );
}

function errorOf(error: unknown, log: (error: unknown) => void) {
  const { status, code, detail, next, errors } = problemOf(error, log);
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { type, code, message: `${detail.replace(/\.$/u, '')}. ${next}`, param: errors?.[0]?.field ?? '' } };
}
