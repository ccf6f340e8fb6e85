import { z } from 'zod';
import { inlineReferences } from '../../context/view/inline-references.ts';
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
  const told = withoutNoise(inlineReferences(schema));
  return { name: tool.name, description: tool.description, inputSchema: isObject(told) ? told : {} };
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
