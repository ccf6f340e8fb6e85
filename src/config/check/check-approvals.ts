import { definedOf } from '../../context/policy/defined-of.ts';
import { RUN_COMMAND } from '../../tools/runtime/names.ts';
import { didYouMean } from '../../tools/runtime/nearest-name.ts';
import type { ToolRegistry } from '../../tools/runtime/registry.ts';
import { toolSchema } from '../../tools/runtime/tool-input.ts';
import type { ToolDefinition } from '../../tools/tool.ts';
import { fitsPattern } from '../../turn/approval-rules.ts';
import type { ApprovalRule } from '../../turn/approval-rules.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfigurationProblem } from '../errors.ts';

/** The tools that are at hand. Only a worker has those of one's own. */
type Tools = Pick<ToolRegistry, 'get'>;

/** Rules under which no call could ever fall: a guard with a slip of the pen would let everything through. Pure. */
export function approvalRuleProblems(
  { agents, placeOf }: Pick<Configuration, 'agents' | 'placeOf'>,
  tools: Tools,
): ConfigurationProblem[] {
  return agents.flatMap(({ name, tools: named, allowCommands, approvals }) => {
    const offered = named.filter((tool) => tool !== RUN_COMMAND || allowCommands);
    return (approvals?.rules ?? []).flatMap((rule, index): ConfigurationProblem[] => {
      const message = wrongTool(rule, offered) ?? wrongArgument(rule, offered, tools);
      const option = `agents.${name}.approvals.rules[${index}]`;
      const place = placeOf(['agents', name, 'approvals', 'rules', index]);
      return message === null ? [] : [{ code: 'wrong_value', option, message, ...definedOf({ place }) }];
    });
  });
}

function wrongTool({ tool }: ApprovalRule, offered: readonly string[]): string | null {
  if (offered.some((name) => fitsPattern(tool, name))) return null;
  return `is for the tool ${JSON.stringify(tool)}, which fits none of the agent's, so that no call would ask${didYouMean(tool, offered)} (it has: ${offered.join(', ')})`;
}

function wrongArgument({ tool, when }: ApprovalRule, offered: readonly string[], tools: Tools): string | null {
  const named = Object.keys(when ?? {});
  const fitting = offered.filter((name) => fitsPattern(tool, name));
  const taken = fitting.map((name) => takenBy(tools.get(name)));
  if (taken.some((names) => names === null || named.every((name) => names.includes(name)))) return null;
  const known = [...new Set(taken.flatMap((names) => names ?? []))];
  const unknown = named.find((name) => !known.includes(name));
  const those = fitting.join(', ');
  if (unknown === undefined)
    return `names arguments under when that none of ${those} takes together: ${named.join(', ')}`;
  return `names the argument ${JSON.stringify(unknown)} under when, which ${those} does not take, so that no call would ask${didYouMean(unknown, known)} (there are: ${known.join(', ')})`;
}

/** Names of the arguments; `null`: not known, or any. */
function takenBy(tool: ToolDefinition | undefined): readonly string[] | null {
  if (tool === undefined) return null;
  const { properties, additionalProperties = false } = toolSchema(tool).inputSchema;
  if (additionalProperties !== false || typeof properties !== 'object' || properties === null) return null;
  return Object.keys(properties);
}
