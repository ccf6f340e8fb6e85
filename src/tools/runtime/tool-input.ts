import { z } from 'zod';
import { DEEPEST_JSON, isNestedTooDeep } from '../../context/log/nested-json.ts';
import { inlineReferences } from '../../context/view/inline-references.ts';
import type { ToolSchema } from '../../context/view/view.ts';
import { ToolDefinitionError } from '../errors.ts';
import type { ToolDefinition } from '../tool.ts';

type ParsedArguments =
  | { readonly ok: true; readonly input: unknown }
  /** `message` is written for the model. */
  | { readonly ok: false; readonly message: string };

/** Wrong properties named in one message; the rest would only be noise. */
const ISSUES_NAMED = 10;

/** Characters of a schema that is told again beside what is wrong. */
const LONGEST_REMINDER = 4_000;

/**
 * Reads the arguments as the model wrote them. Leniency where the meaning is beyond doubt: no arguments at all
 * count as `{}`, and `null` for an optional property (strict modes of some providers send it) as absent.
 */
export async function parseToolArguments(tool: ToolDefinition, argumentsText: string): Promise<ParsedArguments> {
  const json = parseJson(argumentsText.trim() === '' ? '{}' : argumentsText);
  if ('problem' in json) return refusal(tool, json.problem);
  try {
    const parsed = await tool.input.safeParseAsync(json.value);
    if (parsed.success) return { ok: true, input: parsed.data };
    const withoutNulls = await tool.input.safeParseAsync(withoutNullProperties(json.value));
    if (withoutNulls.success) return { ok: true, input: withoutNulls.data };
    return refusal(tool, describeIssues(parsed.error.issues));
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
  const schema = properties.length <= LONGEST_REMINDER ? ` Its arguments: ${properties}` : '';
  return {
    ok: false,
    message: `The call of ${tool.name} was not run, because its arguments are wrong: ${problem}${schema}`,
  };
}

function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return { problem: `they must be one JSON object, not ${nameOfKind(value)}.` };
    if (!isNestedTooDeep(text)) return { value };
    return {
      problem: `lists and objects in them are nested deeper than ${DEEPEST_JSON} levels: make the call again with flatter ones.`,
    };
  } catch (error) {
    return { problem: describeJsonError(text, error instanceof Error ? error.message : String(error)) };
  }
}

function describeJsonError(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1] ?? -1;
  if (!/unexpected end|unterminated/i.test(message) && Number(position) < text.trimEnd().length) {
    return `they are not valid JSON: ${message}.`;
  }
  return (
    `the JSON is cut off after ${text.length} characters. If the answer reached its maximum length, ` +
    `make the call again with less: for instance, write a long file in parts with "append".`
  );
}

function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const more = issues.length > ISSUES_NAMED ? `\n… and ${issues.length - ISSUES_NAMED} more` : '';
  return `\n${z.prettifyError({ issues: issues.slice(0, ISSUES_NAMED) })}${more}\n`;
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
const inputSchemas = new WeakMap<ToolDefinition['input'], Record<string, unknown>>();

function inputSchemaOf(tool: Pick<ToolDefinition, 'name' | 'input'>): Record<string, unknown> {
  let schema: Record<string, unknown>;
  try {
    schema = { ...z.toJSONSchema(tool.input, { io: 'input', reused: 'inline', cycles: 'throw', override }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ToolDefinitionError(`The input of tool ${tool.name} has no JSON Schema: ${reason}`, { cause: error });
  }
  if (schema['type'] !== 'object') {
    throw new ToolDefinitionError(
      `The input of tool ${tool.name} must be a z.object(...), because models answer with named arguments.`,
    );
  }
  const { $schema: _, $defs: __, ...told } = inlineReferences(schema);
  return told;
}

/** zod bounds every integer by what a double holds exactly; to a model that is noise. */
function override({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
