import type { Context } from 'hono';
import { z } from 'zod';
import type { Endpoint, Use } from '../client/api/endpoint.ts';
import { ENDPOINTS } from '../client/api/endpoints.ts';
import type { EndpointName } from '../client/api/endpoints.ts';
import { content } from '../client/arguments.ts';
import type { Holdfast } from '../client/holdfast.ts';
import { requireScope } from './access.ts';
import type { Access, Caller } from './access.ts';
import type { Admitted } from './admission.ts';
import { argumentReader, refused } from './arguments.ts';
import type { RequireAgent } from './configured.ts';
import type { EventStreams } from './events.ts';
import { requireAttachments } from './limits.ts';
import type { ServerLimits } from './limits.ts';

/** A request that waits is answered by then: proxies cut longer ones off. */
const LONGEST_WAIT_MILLISECONDS = 60_000;

interface Served {
  readonly client: Holdfast;
  readonly caller: Caller;
  readonly access: Access;
  readonly requireAgent: RequireAgent;
  readonly limits: ServerLimits;
  readonly streams: EventStreams;
}

/** Calls the method of the client that an endpoint names, and answers what it returns. */
export function endpointServer(name: EndpointName) {
  const endpoint: Endpoint = ENDPOINTS[name];
  const { adminArgument = '' } = endpoint;
  const argumentsIn = argumentReader(endpoint);
  return async (context: Context<Admitted>, { client, caller, limits, ...served }: Served): Promise<Response> => {
    const { access, requireAgent, streams } = served;
    const given = await argumentsIn(context);
    requireSizes(given, limits);
    if (given[adminArgument] !== undefined) requireScope(caller, 'admin');
    if (name === 'start') await requireAgent(z.string().optional().parse(given['agent']));
    // Who has a key cannot decide in another's name; without keys, the user of this machine decides.
    if ('decidedBy' in endpoint.arguments && (caller.key !== null || given['decidedBy'] === undefined)) {
      given['decidedBy'] = caller.name;
    }
    if (endpoint.waits === true) {
      given['timeoutMilliseconds'] = Math.min(
        Number(given['timeoutMilliseconds'] ?? Infinity),
        LONGEST_WAIT_MILLISECONDS,
      );
      given['signal'] = streams.endingOf(context).signal;
    }
    const use = useOf(endpoint, given);
    const idempotencyKey = given[endpoint.idempotencyKey ?? ''];
    const sent = { conversationId: given['conversationId'], idempotencyKey };
    const result = await access.inRoom({ caller, use, sent }, () => call(client, name, given));
    return answer(context, endpoint, result);
  };
}

/** @throws RequestError `invalid_argument` for a longer page, `body_too_large` for more attachments than the server takes */
function requireSizes({ limit, count, content, task }: Record<string, unknown>, limits: ServerLimits): void {
  for (const [field, items] of Object.entries({ limit, count })) {
    if (typeof items !== 'number' || items <= limits.pageItems) continue;
    throw refused([{ field, message: `must be ${limits.pageItems} or less` }]);
  }
  requireAttachments(content ?? task, limits);
}

function useOf({ uses }: Endpoint, { mode, summarize }: Record<string, unknown>): Use | null {
  if (mode === 'queue') return 'turn';
  return uses === 'calls' && summarize === false ? null : (uses ?? null);
}

async function call(client: Holdfast, name: EndpointName, given: Record<string, unknown>): Promise<unknown> {
  if (name === 'start') {
    const { task, ...options } = given;
    return client.start(content.parse(task), options);
  }
  const [groupName = '', method = ''] = name.split('.');
  const group: unknown = Reflect.get(client, groupName);
  const work: unknown = typeof group === 'object' && group !== null ? Reflect.get(group, method) : undefined;
  if (typeof work !== 'function') throw new TypeError(`the client has no method ${name}`);
  return Reflect.apply(work, group, [given]);
}

function answer(context: Context, { result: schema, status = 200 }: Endpoint, result: unknown): Response {
  if (schema instanceof z.ZodVoid) return context.body(null, 204);
  return context.json(shown(schema, result), status);
}

/** Lists and single values in an object, objects without what is not theirs: methods of a task, bytes of an original. */
function shown(schema: z.ZodType, result: unknown): object {
  if (Array.isArray(result)) return { items: result };
  if (typeof result !== 'object' || result === null) return { value: result };
  if (!(schema instanceof z.ZodObject)) return result;
  return Object.fromEntries(Object.entries(result).filter(([key]) => key in schema.shape));
}
