import type { ToolSchema, ToolTraits } from '../../context/view/view.ts';
import { checkToolDefinition } from '../define-tool.ts';
import { ToolDefinitionError } from '../errors.ts';
import { RUN_COMMAND } from './names.ts';
import { toolSchema } from './tool-input.ts';
import type { ToolDefinition } from '../tool.ts';

/** The tools that a worker knows, by name, in the order of declaration. */
export interface ToolRegistry {
  readonly names: readonly string[];
  get(name: string): ToolDefinition | undefined;
  /**
   * The tools that an agent gets: the ones it names, without `run_command` unless commands are allowed. A tool that
   * this worker does not have (a turn may have begun on another one) is left out; calling it is an unknown tool.
   */
  offeredTo(agent: AgentTools): readonly ToolDefinition[];
  /**
   * The same as the model is told of them, in the agent's order.
   * @throws ToolDefinitionError for a name that no tool has.
   */
  schemasFor(agent: AgentTools): readonly ToolSchema[];
  /** How these tools run, by name; without those that run by the defaults. */
  traitsFor(agent: AgentTools): Readonly<Record<string, ToolTraits>>;
}

function traitsOf({ exclusive, timeout, approval = false }: ToolDefinition): ToolTraits {
  return {
    ...(exclusive === true && { exclusive }),
    ...(timeout !== undefined && { timeoutMilliseconds: timeout }),
    ...(approval !== false && { asks: true }),
  };
}

/** The part of an agent's definition that decides which tools it gets. */
interface AgentTools {
  readonly tools: readonly string[];
  readonly allowCommands: boolean;
}

/**
 * @throws ToolDefinitionError for a wrong declaration or two tools of one name.
 */
export function createToolRegistry(tools: readonly ToolDefinition[]): ToolRegistry {
  const byName = new Map<string, ToolDefinition>();
  for (const tool of tools) {
    checkToolDefinition(tool);
    if (byName.has(tool.name)) {
      throw new ToolDefinitionError(
        `Two tools are called ${tool.name}: rename one. Built-in tools cannot be replaced.`,
      );
    }
    byName.set(tool.name, tool);
  }
  const names = [...byName.keys()];

  function namesFor({ tools, allowCommands }: AgentTools): readonly string[] {
    return tools.filter((name) => name !== RUN_COMMAND || allowCommands);
  }

  function schemaNamed(name: string): ToolSchema {
    const tool = byName.get(name);
    if (tool !== undefined) return toolSchema(tool);
    throw new ToolDefinitionError(
      `This worker has no tool ${name}. It has: ${names.join(', ')}. Pass your own tools to createWorker.`,
    );
  }

  function offeredTo(agent: AgentTools): readonly ToolDefinition[] {
    return namesFor(agent).flatMap((name) => byName.get(name) ?? []);
  }

  return {
    names,
    get: (name) => byName.get(name),
    offeredTo,
    schemasFor: (agent) => namesFor(agent).map(schemaNamed),
    traitsFor(agent) {
      const traits = offeredTo(agent).map((tool) => [tool.name, traitsOf(tool)] as const);
      return Object.fromEntries(traits.filter(([, each]) => Object.keys(each).length > 0));
    },
  };
}
