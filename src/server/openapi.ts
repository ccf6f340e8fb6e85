import { z } from 'zod';
import { pathArguments } from '../client/api/endpoint.ts';
import type { Endpoint, Use } from '../client/api/endpoint.ts';
import { ENDPOINTS } from '../client/api/endpoints.ts';
import { OTHER_ROUTES } from './other-routes.ts';
import type { OtherRoute } from './other-routes.ts';
import { problem, statusOf } from './problem.ts';
import type { ProblemCode } from './problem.ts';

type Schema = Record<string, unknown>;

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Schema[];
  readonly requestBody?: Schema;
  /** By status. */
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

interface OpenApiResponse {
  /** Of a problem its codes. */
  readonly description: string;
  readonly headers?: Schema;
  readonly content?: Schema;
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
}

/** A route as the document describes it; `null`: it answers nothing. */
type Described = Omit<Endpoint, 'result' | 'refuses'> &
  Pick<OtherRoute, 'description' | 'headers' | 'body' | 'refuses'> & { readonly answer: OtherRoute['answer'] | null };

/** The description of the API, from the schemas that the routes and the client library use. */
export function openApiDocument(version: string): OpenApiDocument {
  const components: Schema = {};
  // zod writes the JSON Schema that OpenAPI 3.1 takes, so a library that translates zod for OpenAPI would be a second generator.
  const schemaOf: SchemaOf = (schema, io) => {
    const { $schema: _, $defs = {}, ...written } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    Object.assign(components, withComponents($defs));
    return withComponents(written);
  };
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const [name, described] of describedRoutes()) {
    (paths[described.path] ??= {})[described.method] = operationOf(name, described, schemaOf);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Holdfast', version, description: 'Durable agent turns that outlive the context window.' },
    servers: [{ url: '/v1' }],
    paths,
    components: { schemas: components, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
}

function describedRoutes(): [name: string, Described][] {
  const methods = Object.entries<Endpoint>(ENDPOINTS).map(([name, { result, ...endpoint }]): [string, Described] => [
    name,
    { ...endpoint, answer: result instanceof z.ZodVoid ? null : ['application/json', wrapped(result)] },
  ]);
  return [...methods, ...Object.entries<Described>(OTHER_ROUTES)];
}

type SchemaOf = (schema: z.core.$ZodType, io: 'input' | 'output') => Schema;

function operationOf(name: string, described: Described, schemaOf: SchemaOf): OpenApiOperation {
  const { summary, scope, description, adminArgument } = described;
  const also = adminArgument === undefined ? '' : `, and \`${adminArgument}\` the scope \`admin\``;
  const needs = `Needs the scope \`${scope}\`${also}.`;
  return {
    operationId: name,
    summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    ...requestOf(described, schemaOf),
    responses: { ...successOf(described, schemaOf), ...problemsOf(described, schemaOf) },
    // A server without keys asks for none.
    security: [{ key: [scope] }, {}],
  };
}

function successOf(
  { answer, headers = {}, status = 200 }: Described,
  schemaOf: SchemaOf,
): OpenApiOperation['responses'] {
  if (answer === null) return { 204: { description: 'Done' } };
  const [type, schema] = answer;
  const content = { [type]: { schema: schemaOf(schema, 'output') } };
  const part = { description: 'The range that was asked for', headers: textHeader('Content-Range'), content };
  return { [status]: { description: 'Done', content }, ...('Range' in headers && { 206: part }) };
}

/** Errors that any route may answer with. */
const ANY_REFUSAL: readonly ProblemCode[] = [
  'invalid_argument',
  'key_missing',
  'key_refused',
  'login_needed',
  'scope_missing',
  'origin_refused',
  'too_many_requests',
  'internal',
  'database_unreachable',
  'database_busy',
  'database_read_only',
  'database_disk_full',
  'database_connections_used_up',
  'database_refused',
  'database_schema',
  'namespace_differs',
];
/** By the argument that names something, that it is not there; by the time of a wait, that too many wait. */
const OF_ARGUMENT: Readonly<Record<string, ProblemCode>> = {
  conversationId: 'conversation_not_found',
  entryId: 'entry_not_found',
  branch: 'branch_not_found',
  callNumber: 'model_call_not_found',
  memoryId: 'memory_not_found',
  timeoutMilliseconds: 'too_many_watchers',
};
const NO_ROOM: Readonly<Record<Use, readonly ProblemCode[]>> = {
  turn: ['too_many_turns', 'cost_limit_reached'],
  message: ['too_many_turns', 'cost_limit_reached'],
  calls: ['cost_limit_reached'],
};
const PROBLEM_HEADERS: Readonly<Record<number, Schema>> = {
  401: textHeader('WWW-Authenticate'),
  416: textHeader('Content-Range'),
  429: textHeader('Retry-After'),
  503: textHeader('Retry-After'),
};

function problemsOf(
  { method, arguments: shape, uses, refuses = [] }: Described,
  schemaOf: SchemaOf,
): OpenApiOperation['responses'] {
  const codes = [
    ...ANY_REFUSAL,
    ...(method === 'post' ? (['body_not_json', 'body_too_large'] as const) : []),
    ...Object.keys(shape).flatMap((name) => OF_ARGUMENT[name] ?? []),
    ...(uses === undefined ? [] : NO_ROOM[uses]),
    ...refuses,
  ];
  const content = { 'application/problem+json': { schema: schemaOf(problem, 'output') } };
  const statuses = [...new Set(codes.map(statusOf))].toSorted((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => statusOf(code) === status);
      const description = own.map((code) => `\`${code}\``).join(', ');
      return [status, { description, ...(status in PROBLEM_HEADERS && { headers: PROBLEM_HEADERS[status] }), content }];
    }),
  );
}

function textHeader(name: string): Schema {
  return { [name]: { schema: { type: 'string' } } };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Chosen by the caller, 1 to 200 characters: what is sent twice with it counts once.',
  schema: { type: 'string', maxLength: 200 },
};

function requestOf(
  { method, path, arguments: shape, idempotencyKey, headers = {}, body }: Described,
  schemaOf: SchemaOf,
): Pick<OpenApiOperation, 'parameters' | 'requestBody'> {
  const inPath = pathArguments(path);
  const others = Object.entries(shape).filter(([name]) => !inPath.includes(name) && name !== idempotencyKey);
  const parameter = (
    place: 'path' | 'query' | 'header',
    name: string,
    schema: z.core.$ZodType = z.string(),
  ): Schema => ({
    name,
    in: place,
    required: place === 'path' || (place === 'query' && !isOptional(schema)),
    schema: schemaOf(schema, 'input'),
  });
  const isJson = method === 'post' && body === undefined;
  const parameters = [
    ...inPath.map((name) => parameter('path', name, shape[name])),
    ...(idempotencyKey === undefined ? [] : [IDEMPOTENCY_KEY]),
    ...(isJson ? [] : others.map(([name, schema]) => parameter('query', name, schema))),
    ...Object.entries(headers).map(([name, schema]) => parameter('header', name, schema)),
  ];
  if (body !== undefined) {
    return { parameters, requestBody: { required: true, content: { [body]: { schema: { type: 'string' } } } } };
  }
  if (!isJson || others.length === 0) return { parameters };
  const required = others.some(([, schema]) => !isOptional(schema));
  const schema = schemaOf(z.strictObject(Object.fromEntries(others)), 'input');
  return { parameters, requestBody: { required, content: { 'application/json': { schema } } } };
}

/** As the server wraps what is no object. */
function wrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject || schema instanceof z.ZodUnion) return schema;
  const isList =
    schema instanceof z.ZodArray || (schema instanceof z.ZodReadonly && schema.unwrap() instanceof z.ZodArray);
  return isList ? z.object({ items: schema }) : z.object({ value: schema });
}

function isOptional(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodOptional;
}

/** zod keeps named schemas beside each one that uses them; a document has them in one place. */
function withComponents(schema: object): Schema {
  return z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(JSON.stringify(schema).replaceAll('#/$defs/', '#/components/schemas/')));
}
