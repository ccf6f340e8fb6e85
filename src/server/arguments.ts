import type { Context } from 'hono';
import { z } from 'zod';
import { pathArguments } from '../client/api/endpoint.ts';
import type { Endpoint } from '../client/api/endpoint.ts';
import { describeIssue, exactly, issuesOf } from '../client/arguments.ts';
import { RequestError } from './problem.ts';
import type { FieldProblem } from './problem.ts';

/** Reads the arguments of an endpoint from path, query or body, and header. */
export function argumentReader<Shape extends z.ZodRawShape>(endpoint: {
  readonly method: Endpoint['method'];
  readonly path: string;
  readonly arguments: Shape;
  readonly idempotencyKey?: string;
  /** Content type of a body that is no JSON, beside arguments in the query. */
  readonly body?: string;
}) {
  const { method, path, idempotencyKey, body } = endpoint;
  const names = pathArguments(path);
  // Once: zod compiles a parser for each schema, which takes longer than most requests.
  const schema = exactly(
    endpoint.arguments,
    Object.keys(endpoint.arguments).filter((name) => !names.includes(name)),
  );
  /** @throws RequestError `invalid_argument`, `body_not_json` */
  return async (context: Context): Promise<z.output<typeof schema>> => {
    const inPath = Object.fromEntries(names.map((name) => [name, [context.req.param(name) ?? '']]));
    const isJson = method === 'post' && body === undefined;
    const queries = context.req.queries();
    const misplaced = isJson ? Object.keys(queries) : [];
    if (misplaced.length > 0) {
      throw refused(misplaced.map((field) => ({ field, message: 'is not taken from the query: send it in the body' })));
    }
    const given = isJson ? await readBody(context) : fromTexts(endpoint, queries);
    const header = idempotencyKey === undefined ? undefined : context.req.header('idempotency-key');
    const key = idempotencyKey === undefined || header === undefined ? {} : { [idempotencyKey]: header };
    const twice = names.find((name) => name in given);
    if (twice !== undefined) throw refused([{ field: twice, message: 'stands in the path and nowhere else' }]);
    return checked(schema, { ...given, ...key, ...fromTexts(endpoint, inPath) });
  };
}

/** @throws RequestError `invalid_argument` with each field that is refused */
export function checked<Schema extends z.ZodObject>(schema: Schema, value: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  throw refused(
    issuesOf(error).map((issue) => ({
      field: issue.path.map(String).join('.'),
      message: describeIssue(issue, value, false),
    })),
  );
}

export function refused(fields: readonly FieldProblem[]): RequestError {
  // A name that nobody knows may be anything, a page of text or a script: it is data of the answer, and cut.
  const shown = fields.slice(0, 10).map(({ field, message }) => ({ field: field.slice(0, 60), message }));
  const names = shown.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new RequestError('invalid_argument', `The request is refused: ${names}.`, { fields: shown });
}

/** @throws RequestError `body_not_json` */
export async function readBody(context: Context): Promise<Record<string, unknown>> {
  const type = context.req.header('content-type');
  const text = decode(await context.req.arrayBuffer());
  if (text === '' && type === undefined) return {};
  // Another type could come from a form of any page without the browser asking.
  if (type === undefined || !/^application\/json(?:;|$)/iu.test(type)) {
    throw new RequestError('body_not_json', 'The body must be of content-type application/json.');
  }
  const body: unknown = parseJson(text);
  const object = z.record(z.string(), z.unknown()).safeParse(body);
  if (!object.success) throw new RequestError('body_not_json', 'The body must be a JSON object.');
  return object.data;
}

/** Bytes that are no UTF-8 would become other characters, and a message would say what its sender did not. */
function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RequestError('body_not_json', 'The body is not UTF-8.');
  }
}

function parseJson(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new RequestError('body_not_json', 'The body is not JSON.');
  }
}

/** Texts of an address as the values that the arguments take; what does not look like one stays a text, and is refused as such. */
function fromTexts(
  { arguments: shape }: Pick<Endpoint, 'arguments'>,
  given: Readonly<Record<string, readonly string[]>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, texts]) => [name, fromText(shape[name], texts)]));
}

function fromText(schema: z.core.$ZodType | undefined, texts: readonly string[]): unknown {
  const [text = ''] = texts;
  const type = schema === undefined ? 'string' : typeOf(schema);
  if (type === 'array') return texts;
  if (texts.length > 1) return texts;
  if (type === 'number') return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
  return type === 'boolean' && /^(?:true|false)$/u.test(text) ? text === 'true' : text;
}

function typeOf(schema: z.core.$ZodType): string {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? typeOf(schema.unwrap())
    : schema._zod.def.type;
}
