import type { z } from 'zod';
import { ToolDefinitionError } from './errors.ts';
import type { ToolDefinition, ToolEffect } from './tool.ts';
import { toolSchema } from './runtime/tool-input.ts';

/** Milliseconds a tool may take when it does not say. */
export const DEFAULT_TOOL_TIMEOUT_MILLISECONDS = 120_000;

/** Longest timeout, in milliseconds: a day. Beyond it the call belongs into a workflow of its own. */
export const LONGEST_TOOL_TIMEOUT_MILLISECONDS = 86_400_000;

const EFFECTS: readonly ToolEffect[] = ['none', 'idempotent', 'once'];

/**
 * Declares a tool. The zod schema gives the type of the input of `run`.
 *
 * ```ts
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The current weather of a city.',
 *   input: z.object({ city: z.string() }),
 *   effect: 'none',
 *   async run({ city }, { signal }) {
 *     const response = await fetch(`https://wttr.in/${encodeURIComponent(city)}?format=3`, { signal });
 *     return { content: await response.text() };
 *   },
 * });
 * ```
 * @throws `ToolDefinitionError` that names what is wrong
 */
export function defineTool<Input extends z.ZodType>(tool: ToolDefinition<Input>): ToolDefinition<Input> {
  checkToolDefinition(tool);
  return tool;
}

/** @throws ToolDefinitionError */
export function checkToolDefinition(tool: ToolDefinition): void {
  const problem = problemOf(tool);
  if (problem !== null)
    throw new ToolDefinitionError(`The tool ${JSON.stringify(tool.name)} cannot be used: ${problem}.`);
  toolSchema(tool);
}

function problemOf(tool: ToolDefinition): string | null {
  const { name, description, effect, timeout = 1, approval = false } = tool;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    return 'model providers refuse its name; use 1 to 64 letters, digits, "_" or "-"';
  }
  if (typeof description !== 'string' || description.trim() === '') {
    return 'it has no description; say what it does and when to use it';
  }
  if (!EFFECTS.includes(effect)) return `its effect is ${JSON.stringify(effect)}; say one of ${EFFECTS.join(', ')}`;
  if (!(timeout > 0 && timeout <= LONGEST_TOOL_TIMEOUT_MILLISECONDS)) {
    return `its timeout is ${timeout}; say milliseconds from 1 to ${LONGEST_TOOL_TIMEOUT_MILLISECONDS}`;
  }
  if (typeof approval !== 'boolean' && typeof approval !== 'function') {
    return `its approval is ${JSON.stringify(approval)}; say true, false or a function of the input`;
  }
  return typeof tool.run === 'function' ? null : 'it has no function "run"';
}
