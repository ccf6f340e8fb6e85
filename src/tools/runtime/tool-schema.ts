import { z } from 'zod';
import type { ToolSchema } from '../../context/view/view.ts';
import { ToolDefinitionError } from '../errors.ts';
import type { ToolDefinition } from '../tool.ts';

type JsonSchema = Record<string, unknown>;

/**
 * What the model is told of a tool. The JSON Schema holds no `$ref`, which several providers refuse, and comes
 * out byte for byte the same each time, as prompt caches need it.
 * @throws ToolDefinitionError `tool_input_invalid` when the input is no zod object or has no JSON Schema.
 */
export function toolSchema(tool: Pick<ToolDefinition, 'name' | 'description' | 'input'>): ToolSchema {
  let schema: JsonSchema;
  try {
    schema = { ...z.toJSONSchema(tool.input, { io: 'input', reused: 'inline', cycles: 'throw' }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ToolDefinitionError(
      'tool_input_invalid',
      `The input of tool ${tool.name} has no JSON Schema: ${reason}`,
      {
        cause: error,
      },
    );
  }
  if (schema['type'] !== 'object') {
    throw new ToolDefinitionError(
      'tool_input_invalid',
      `The input of tool ${tool.name} must be a z.object(...), because models answer with named arguments.`,
    );
  }
  const definitions = isObject(schema['$defs']) ? schema['$defs'] : {};
  const inlined = inline(schema, definitions, tool.name, []);
  return { name: tool.name, description: tool.description, inputSchema: isObject(inlined) ? inlined : {} };
}

/** Puts definitions (from `.meta({ id })`) in place of references and leaves out what only describes the document. */
function inline(node: unknown, definitions: JsonSchema, tool: string, path: readonly string[]): unknown {
  if (Array.isArray(node)) return node.map((item: unknown) => inline(item, definitions, tool, path));
  if (!isObject(node)) return node;
  const reference = node['$ref'];
  if (typeof reference === 'string') {
    const name = reference.replace('#/$defs/', '');
    if (path.includes(name)) {
      throw new ToolDefinitionError('tool_input_invalid', `The input of tool ${tool} refers to itself (${name}).`);
    }
    const { $ref: _, ...beside } = node;
    const target = inline(definitions[name], definitions, tool, [...path, name]);
    return { ...(isObject(target) ? target : {}), ...beside };
  }
  const result: JsonSchema = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === '$schema' || key === '$defs' || isSafeIntegerBound(key, value)) continue;
    if (key === 'properties' && isObject(value)) {
      // The keys here are the author's names, not words of JSON Schema.
      const named = Object.entries(value).map(([name, property]) => [name, inlineBelow(property)]);
      result[key] = Object.fromEntries(named);
    } else {
      result[key] = VALUES.has(key) ? value : inlineBelow(value);
    }
  }
  return result;

  function inlineBelow(value: unknown): unknown {
    return inline(value, definitions, tool, path);
  }
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
