import { z } from 'zod';
import { DEEPEST_JSON, isNestedTooDeep } from '../../context/log/nested-json.ts';
import { inlineReferences } from '../../context/view/inline-references.ts';
import type { ToolSchema } from '../../context/view/view.ts';
import { ToolDefinitionError } from '../errors.ts';
import type { ToolDefinition } from '../tool.ts';
import { nearestName } from './nearest-name.ts';

type ParsedArguments =
  | { readonly ok: true; readonly input: unknown }
  /** `message` is written for the model. */
  | { readonly ok: false; readonly message: string };

/** Wrong properties named in one message; the rest would only be noise. */
const ISSUES_NAMED = 10;

/**
 * Reads the arguments as the model wrote them. Leniency where the meaning is beyond doubt: no arguments at all
 * count as `{}`, and `null` for an optional property (strict modes of some providers send it) as absent.
 */
export async function parseToolArguments(tool: ToolDefinition, argumentsText: string): Promise<ParsedArguments> {
  const json = parseJson(argumentsText.trim() === '' ? '{}' : argumentsText);
  if (!json.ok) return refusal(tool, json.problem);
  if (!isRecord(json.value)) {
    return refusal(tool, `they must be one JSON object, not ${nameOfKind(json.value)}.`);
  }
  try {
    const parsed = await tool.input.safeParseAsync(json.value);
    if (parsed.success) return { ok: true, input: parsed.data };
    const withoutNulls = await tool.input.safeParseAsync(withoutNullProperties(json.value));
    if (withoutNulls.success) return { ok: true, input: withoutNulls.data };
    return refusal(tool, describeIssues(parsed.error.issues, json.value, tool));
  } catch (error) {
    // A check of the tool's own threw.
    const reason = error instanceof Error ? error.message || error.name : String(error);
    return {
      ok: false,
      message: `The call of ${tool.name} was not run, because its arguments could not be checked: ${reason}`,
    };
  }
}

function refusal(tool: ToolDefinition, problem: string): ParsedArguments {
  const properties = JSON.stringify(toolSchema(tool).inputSchema['properties'] ?? {});
  const schema = properties.length <= 1_500 ? ` Its arguments: ${properties}` : '';
  return {
    ok: false,
    message: `The call of ${tool.name} was not run, because its arguments are wrong: ${problem}${schema}`,
  };
}

function parseJson(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (!isNestedTooDeep(text)) return { ok: true, value };
    const problem = `lists and objects in them are nested deeper than ${DEEPEST_JSON} levels: make the call again with flatter ones.`;
    return { ok: false, problem };
  } catch (error) {
    return { ok: false, problem: describeJsonError(text, error instanceof Error ? error.message : String(error)) };
  }
}

function describeJsonError(text: string, message: string): string {
  const place = /at position (\d+)/.exec(message);
  const position = place === null ? null : Number(place[1]);
  if (/unexpected end|unterminated/i.test(message) || (position !== null && position >= text.trimEnd().length)) {
    return (
      `the JSON is cut off after ${text.length} characters. If the answer reached its maximum length, ` +
      `make the call again with less: for instance, write a long file in parts with "append".`
    );
  }
  if (position === null) return `they are not valid JSON (${message}).`;
  const near = text.slice(Math.max(0, position - 20), position + 20);
  return `they are not valid JSON: ${message.replace(/\s+\(line.*$/, '')}, near ${JSON.stringify(near)}.`;
}

function describeIssues(issues: readonly z.core.$ZodIssue[], input: unknown, tool: ToolDefinition): string {
  const lines = issues.slice(0, ISSUES_NAMED).map((issue) => describeIssue(issue, input, tool));
  const more = issues.length > ISSUES_NAMED ? `\n- and ${issues.length - ISSUES_NAMED} more` : '';
  return `\n${lines.map((line) => `- ${line}`).join('\n')}${more}\n`;
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown, tool: ToolDefinition): string {
  const place = issue.path.length === 0 ? '' : `"${issue.path.map(String).join('.')}": `;
  if (issue.code === 'unrecognized_keys') {
    const known = issue.path.length === 0 ? propertyNames(tool) : [];
    return place + issue.keys.map((key) => unknownProperty(key, known)).join('; ');
  }
  const value = valueAt(input, issue.path);
  if (issue.code === 'invalid_type' && value === undefined) return `${place}is missing (expected ${issue.expected})`;
  const got = value === undefined || isRecord(value) || Array.isArray(value) ? '' : ` (got ${shortJson(value)})`;
  return `${place}${issue.message}${got}`;
}

function unknownProperty(key: string, known: readonly string[]): string {
  const near = nearestName(key, known);
  if (near !== null) return `there is no "${key}"; did you mean "${near}"?`;
  return `there is no "${key}"${known.length > 0 ? ` (there are: ${known.join(', ')})` : ''}`;
}

function propertyNames(tool: ToolDefinition): string[] {
  const properties = toolSchema(tool).inputSchema['properties'];
  return isRecord(properties) ? Object.keys(properties) : [];
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value) && typeof key === 'number') return value[key];
    return isRecord(value) && typeof key === 'string' ? value[key] : undefined;
  }, input);
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function withoutNullProperties(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullProperties);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([, property]) => property !== null);
  return Object.fromEntries(kept.map(([key, property]) => [key, withoutNullProperties(property)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOfKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

type JsonSchema = Record<string, unknown>;

/**
 * What the model is told of a tool. The JSON Schema holds no `$ref`, which several providers refuse, and comes
 * out byte for byte the same each time, as prompt caches need it.
 * @throws ToolDefinitionError when the input is no zod object or has no JSON Schema.
 */
export function toolSchema(tool: Pick<ToolDefinition, 'name' | 'description' | 'input'>): ToolSchema {
  let inputSchema = inputSchemas.get(tool.input);
  if (inputSchema === undefined) inputSchemas.set(tool.input, (inputSchema = inputSchemaOf(tool)));
  return { name: tool.name, description: tool.description, inputSchema };
}

/** Each is asked for several times, and zod takes a millisecond for one. */
const inputSchemas = new WeakMap<ToolDefinition['input'], JsonSchema>();

function inputSchemaOf(tool: Pick<ToolDefinition, 'name' | 'input'>): JsonSchema {
  let schema: JsonSchema;
  try {
    schema = { ...z.toJSONSchema(tool.input, { io: 'input', reused: 'inline', cycles: 'throw' }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ToolDefinitionError(`The input of tool ${tool.name} has no JSON Schema: ${reason}`, { cause: error });
  }
  if (schema['type'] !== 'object') {
    throw new ToolDefinitionError(
      `The input of tool ${tool.name} must be a z.object(...), because models answer with named arguments.`,
    );
  }
  const told = withoutNoise(inlineReferences(schema));
  return isObject(told) ? told : {};
}

/** Leaves out what only describes the document. */
function withoutNoise(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNoise);
  if (!isObject(node)) return node;
  const result: JsonSchema = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === '$schema' || key === '$defs' || isSafeIntegerBound(key, value)) continue;
    if (key === 'properties' && isObject(value)) {
      // The keys here are the author's names, not words of JSON Schema.
      const named = Object.entries(value).map(([name, property]) => [name, withoutNoise(property)]);
      result[key] = Object.fromEntries(named);
    } else {
      result[key] = VALUES.has(key) ? value : withoutNoise(value);
    }
  }
  return result;
}

/** Keys whose value is data of the author, not a schema. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);

/** zod bounds every integer by what a double holds exactly; to a model that is noise. */
function isSafeIntegerBound(key: string, value: unknown): boolean {
  return (
    (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) || (key === 'minimum' && value === Number.MIN_SAFE_INTEGER)
  );
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
