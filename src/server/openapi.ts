import { z } from 'zod';
import { pathArguments } from '../client/api/endpoint.ts';
import type { Endpoint } from '../client/api/endpoint.ts';
import { ENDPOINTS } from '../client/api/endpoints.ts';
import { importedConversation } from '../client/api/conversation-results.ts';
import { liveText, timelineEvent } from '../client/api/log-results.ts';
import { configuredAgent, configuredLink, configuredPreset } from './configured.ts';
import { eventArguments } from './events.ts';
import { problem } from './problem.ts';
import { importArguments } from './transfer.ts';

type Schema = Record<string, unknown>;

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Schema[];
  readonly requestBody?: Schema;
  readonly responses: Schema;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Schema;
  readonly servers: readonly Schema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly securitySchemes: Readonly<Record<string, Schema>>;
  };
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The description of the API, from the schemas that the routes and the client library use. */
export function openApiDocument(version: string): OpenApiDocument {
  const components: Schema = {};
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const schemaOf = (schema: z.core.$ZodType, io: 'input' | 'output'): Schema => {
    const { $schema: _, $defs = {}, ...written } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    Object.assign(components, withComponents($defs));
    return withComponents(written);
  };
  const failure = { description: 'What went wrong, with a code and what to do', content: problemContent(schemaOf) };
  for (const [name, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    const { method, path, result, status = 200 } = endpoint;
    const isEmpty = result instanceof z.ZodVoid;
    const success = isEmpty
      ? { 204: { description: 'Done' } }
      : { [status]: { description: 'Done', content: json(schemaOf(wrapped(result), 'output')) } };
    (paths[path] ??= {})[method] = {
      operationId: name,
      summary: endpoint.summary,
      description: `Needs the scope \`${endpoint.scope}\`${adminNote(endpoint)}.`,
      ...requestOf(endpoint, schemaOf),
      responses: { ...success, default: failure },
    };
  }
  paths['/conversations/{conversationId}/events'] = { get: eventsOperation(schemaOf, failure) };
  Object.assign(paths, otherPaths(schemaOf, failure));
  return {
    openapi: '3.1.0',
    info: { title: 'Holdfast', version, description: 'Durable agent turns that outlive the context window.' },
    servers: [{ url: '/v1' }],
    paths,
    components: { schemas: components, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    // A server without keys asks for none.
    security: [{ key: [] }, {}],
  };
}

function adminNote({ adminArgument }: Endpoint): string {
  return adminArgument === undefined ? '' : `, and \`${adminArgument}\` the scope \`admin\``;
}

type SchemaOf = (schema: z.core.$ZodType, io: 'input' | 'output') => Schema;

function requestOf(
  {
    method,
    path,
    arguments: shape,
    idempotencyKey,
  }: Pick<Endpoint, 'method' | 'path' | 'arguments' | 'idempotencyKey'>,
  schemaOf: SchemaOf,
): Pick<OpenApiOperation, 'parameters' | 'requestBody'> {
  const inPath = pathArguments(path);
  const others = Object.entries(shape).filter(([name]) => !inPath.includes(name) && name !== idempotencyKey);
  const parameter = (place: 'path' | 'query', name: string): Schema => ({
    name,
    in: place,
    required: place === 'path' || !isOptional(shape[name]),
    schema: schemaOf(shape[name] ?? z.string(), 'input'),
  });
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Chosen by the caller, 1 to 200 characters: what is sent twice with it counts once.',
    schema: { type: 'string', maxLength: 200 },
  };
  const parameters = inPath.map((name) => parameter('path', name));
  if (idempotencyKey !== undefined) parameters.push(key);
  if (method !== 'post') return { parameters: [...parameters, ...others.map(([name]) => parameter('query', name))] };
  const body = z.strictObject(Object.fromEntries(others));
  return {
    parameters,
    ...(others.length > 0 && {
      requestBody: {
        required: others.some(([, schema]) => !isOptional(schema)),
        content: json(schemaOf(body, 'input')),
      },
    }),
  };
}

function eventsOperation(schemaOf: SchemaOf, failure: Schema): OpenApiOperation {
  const path = '/conversations/{conversationId}/events';
  const lastEventId = { name: 'Last-Event-ID', in: 'header', schema: { type: 'integer' } };
  const { parameters } = requestOf({ method: 'get', path, arguments: eventArguments }, schemaOf);
  const events = z.union([timelineEvent, liveText]);
  return {
    operationId: 'conversation.watch',
    summary: 'Follow the events of a conversation, and its live text',
    description:
      'Server-sent events: `timeline` with the number of the event as id, `live_text` without one, `error` with a problem before the stream ends. Last-Event-ID resumes without a gap. Needs the scope `read`.',
    parameters: [...parameters, lastEventId],
    responses: {
      200: { description: 'The stream', content: { 'text/event-stream': { schema: schemaOf(events, 'output') } } },
      default: failure,
    },
  };
}

function importOperation(schemaOf: SchemaOf, failure: Schema): OpenApiOperation {
  const path = '/conversations/import';
  return {
    operationId: 'conversation.import',
    summary: 'Store a conversation as export wrote it, under the same ids',
    description: 'Needs the scope `write`.',
    ...requestOf({ method: 'get', path, arguments: importArguments }, schemaOf),
    requestBody: { required: true, content: { 'application/x-ndjson': { schema: { type: 'string' } } } },
    responses: {
      201: { description: 'Done', content: json(schemaOf(importedConversation, 'output')) },
      default: failure,
    },
  };
}

/** What is no method of the client, or no JSON. */
function otherPaths(schemaOf: SchemaOf, failure: Schema): Record<string, Record<string, OpenApiOperation>> {
  const get = (path: string, operationId: string, summary: string, content: Schema) => ({
    [path]: {
      get: {
        operationId,
        summary,
        description: 'Needs the scope `read`.',
        parameters: pathArguments(path).map((name) => ({
          name,
          in: 'path',
          required: true,
          schema: { type: 'string' },
        })),
        responses: { 200: { description: 'Done', content }, default: failure },
      },
    },
  });
  const bytes = { 'application/octet-stream': { schema: {} } };
  const lines = { 'application/x-ndjson': { schema: { type: 'string' } } };
  const listed = (item: z.ZodType): Schema => json(schemaOf(z.object({ items: z.array(item) }), 'output'));
  return {
    ...get('/conversations/{conversationId}/export', 'conversation.export', 'Write a whole conversation', lines),
    '/conversations/import': { post: importOperation(schemaOf, failure) },
    ...get('/entries/{entryId}/content', 'log.content', 'Read the original of an entry, whole or by Range', bytes),
    ...get('/agents', 'agents.list', 'List the agents of the configuration', listed(configuredAgent)),
    ...get('/links', 'links.list', 'List other pages, such as those of Temporal', listed(configuredLink)),
    ...get('/presets', 'presets.list', 'List the compaction presets', listed(configuredPreset)),
  };
}

/** As the server wraps what is no object. */
function wrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject || schema instanceof z.ZodUnion) return schema;
  const isList =
    schema instanceof z.ZodArray || (schema instanceof z.ZodReadonly && schema.unwrap() instanceof z.ZodArray);
  return isList ? z.object({ items: schema }) : z.object({ value: schema });
}

function isOptional(schema: z.core.$ZodType | undefined): boolean {
  return schema instanceof z.ZodOptional;
}

function json(schema: Schema): Schema {
  return { 'application/json': { schema } };
}

function problemContent(schemaOf: SchemaOf): Schema {
  return { 'application/problem+json': { schema: schemaOf(problem, 'output') } };
}

/** zod keeps named schemas beside each one that uses them; a document has them in one place. */
function withComponents(schema: object): Schema {
  return z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(JSON.stringify(schema).replaceAll('#/$defs/', '#/components/schemas/')));
}
